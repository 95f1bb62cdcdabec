// Uses of a guarded resource that must not compile. The check compiles this file as it is, which
// must succeed, and once for each line below with the macro of that name, which must fail with an
// error that matches the expression behind it.
//
// refuses function_without_fence: no matching .*with
// refuses function_without_resource: no matching .*with
// refuses use_without_lease: no matching .*with
// refuses number_for_lease: no matching .*with
// refuses resource_itself: operator->|operand of .->|is not a pointer
// refuses reference_to_resource: no matching .*with
// refuses pointer_to_resource: no matching .*with
// refuses fence_of_a_number: no matching (function|constructor)|no matching conversion
// refuses fence_of_a_lease: private
// refuses kept_fence: deleted
// refuses unfenced_write: no matching .*book|too few arguments
// refuses write_by_a_number: no (matching|known|viable)|cannot convert|invalid initialization
// refuses copied_resource: deleted
#include <holdfast/holdfast.hpp>

#include <cstdint>
#include <optional>
#include <system_error>

namespace hf = holdfast;

struct ledger {
  bool book(int cents, const hf::fence& by) {
    if (by.token() < token) return false;
    token = by.token();
    total += cents;
    return true;
  }
  std::int64_t token = 0;
  int total = 0;
};

int use(hf::guarded<ledger>& accounts, const hf::lease& lease) {
  std::error_code ec;
  bool booked = accounts.with(lease, [](ledger& l, const hf::fence& by) { return l.book(5, by); });
  accounts.with(lease, [](ledger& l, const hf::fence& by) { (void)l.book(5, by); });
  booked |= accounts.with(
      lease, [](ledger& l, const hf::fence& by) { (void)l.book(5, by); }, ec);
  const std::optional<int> total = accounts.with(
      lease, [](const ledger& l, const hf::fence&) { return l.total; }, ec);

#ifdef function_without_fence
  accounts.with(lease, [](ledger& l) { l.total = 0; });
#endif
#ifdef function_without_resource
  accounts.with(lease, [](const hf::fence&) {});
#endif
#ifdef use_without_lease
  accounts.with([](ledger&, const hf::fence&) {});
#endif
#ifdef number_for_lease
  accounts.with(7, [](ledger&, const hf::fence&) {});
#endif
#ifdef resource_itself
  accounts->total = 0;
#endif
#ifdef reference_to_resource
  accounts.with(lease, [](ledger& l, const hf::fence&) -> ledger& { return l; }).total = 0;
#endif
#ifdef pointer_to_resource
  accounts.with(lease, [](ledger& l, const hf::fence&) { return &l; })->total = 0;
#endif
#ifdef fence_of_a_number
  const hf::fence made(std::int64_t{7});
#endif
#ifdef fence_of_a_lease
  const hf::fence made(lease);
#endif
#ifdef kept_fence
  accounts.with(lease, [](ledger&, const hf::fence& by) { return std::optional<hf::fence>(by); });
  accounts.with(lease, [](ledger&, const hf::fence& by) { hf::fence kept = by; });
#endif
#ifdef unfenced_write
  accounts.with(lease, [](ledger& l, const hf::fence&) { return l.book(5); });
#endif
#ifdef write_by_a_number
  accounts.with(lease, [](ledger& l, const hf::fence& by) { return l.book(5, by.token()); });
#endif
#ifdef copied_resource
  hf::guarded<ledger> copy = accounts;
#endif
  return booked ? total.value_or(0) : 0;
}
