#include <holdfast/client.hpp>

#include <algorithm>

#include "api/client_access.hpp"
#include "base/fail.hpp"
#include "cohort/blocked.hpp"
#include "cohort/client_impl.hpp"
#include "seam/name.hpp"
#include "seam/registry.hpp"

namespace holdfast::inline v0 {
namespace {

template <class Handler, class Item>
struct awaited_list : Handler {
  core::parker parker;
  core::failure why;
  std::vector<Item> list;
  void on_failed(core::failure f) override {
    why = std::move(f);
    parker.signal();
  }
  void answer(std::vector<Item> l) {
    list = std::move(l);
    parker.signal();
  }
};

struct awaited_holders final : awaited_list<core::holders_handler, holder> {
  void on_holders(std::vector<holder> l) override { answer(std::move(l)); }
};

struct awaited_findings final : awaited_list<core::findings_handler, finding> {
  void on_findings(std::vector<finding> l) override { answer(std::move(l)); }
};

// Waits for the answer to the query that `ask` sends to the store, as `operation`.
template <class Answer = awaited_holders, class Ask>
auto answered(detail::client_impl& c, std::string_view operation, std::string_view name, Ask ask) {
  Answer answer;
  ask(c.store(), answer);
  if (!answer.parker.signalled()) c.store().flush();
  core::wait(answer.parker, c.store());
  if (answer.why.code)
    core::fail(errc{answer.why.code.value()}, operation, answer.why.text, name, c.text());
  return std::move(answer.list);
}

std::vector<holder> all_holders(detail::client_impl* const impl, std::string_view prefix) {
  auto& c = detail::require_open(impl, "inspect");
  auto all = answered(c, "inspect", {}, [&](core::backend& store, core::holders_handler& to) {
    store.inspect(prefix, to);
  });
  detail::sort_by_name(all);
  return all;
}

std::vector<holder> holders_of(detail::client_impl* const impl, std::string_view name) {
  auto& c = detail::require_named(impl, "holders", name);
  return answered(c, "holders", name, [&](core::backend& store, core::holders_handler& to) {
    store.holders(name, to);
  });
}

bool broken(detail::client_impl* const impl, std::string_view name, std::string_view seen) {
  auto& c = detail::require_named(impl, "break_lock", name);
  core::blocked_decision answer;
  c.store().break_lock(name, seen, answer);
  answer.wait_for(c.store());
  if (answer.why.code)
    core::fail(errc{answer.why.code.value()}, "break_lock", answer.why.text, name, c.text());
  return answer.yes;
}

}  // namespace

client client::open(std::string_view where, const open_options& how, std::stop_token stop) {
  if (stop.stop_requested()) core::fail(errc::canceled, "open", "it was stopped");
  const auto at = holdfast::url::parse(where);
  core::environment& real = core::system_environment();
  return detail::client_access::open(at, how, core::environment_of(at, real), std::move(stop));
}

client client::open(std::string_view where, const open_options& how, std::stop_token stop,
                    std::error_code& ec) {
  return core::in_either_form(&ec, [&] { return open(where, how, std::move(stop)); });
}

std::vector<holder> client::inspect(std::string_view prefix) const {
  return all_holders(impl_.get(), prefix);
}

std::vector<holder> client::inspect(std::string_view prefix, std::error_code& ec) const {
  return core::in_either_form(&ec, [&] { return inspect(prefix); });
}

std::vector<holder> client::holders(std::string_view name) const {
  return holders_of(impl_.get(), name);
}

std::vector<holder> client::holders(std::string_view name, std::error_code& ec) const {
  return core::in_either_form(&ec, [&] { return holders(name); });
}

bool client::break_lock(std::string_view name, std::string_view seen) const {
  return broken(impl_.get(), name, seen);
}

bool client::break_lock(std::string_view name, std::string_view seen, std::error_code& ec) const {
  return core::in_either_form(&ec, [&] { return break_lock(name, seen); });
}

std::vector<finding> client::examine() const {
  auto& c = detail::require_open(impl_.get(), "examine");
  return answered<awaited_findings>(c, "examine", {},
                                    [](core::backend& store, core::findings_handler& to) {
                                      store.examine(to);
                                    });
}

std::vector<finding> client::examine(std::error_code& ec) const {
  return core::in_either_form(&ec, [&] { return examine(); });
}

std::size_t client::remove_unused() const {
  detail::require_open(impl_.get(), "remove_unused");
  core::failure why;
  const std::size_t removed = impl_->store().remove_unused(why);
  if (why.code)
    core::fail(errc{why.code.value()}, "remove_unused", std::move(why.text), {}, impl_->text());
  return removed;
}

std::size_t client::remove_unused(std::error_code& ec) const {
  return core::in_either_form(&ec, [&] { return remove_unused(); });
}

features client::features() const noexcept {
  if (!impl_) return {};
  const core::capabilities& can = impl_->rules().can;
  return {.ttl = can.core_renews(),
          .deadline = can.has_deadlines(),
          .fifo = can.queue == core::order::fifo,
          .durable = can.durable,
          .processes = can.processes,
          .breakable = can.breakable,
          .shared = (can.modes & core::bit_of(lock_mode::shared)) != 0,
          .permits = (can.modes & core::bit_of(lock_mode::permit)) != 0,
          .tokens = can.tokens,
          .unsafe = can.unsafe};
}

std::string client::url_text() const { return impl_ ? impl_->text() : std::string(); }

metrics client::metrics() const {
  if (!impl_) return {};
  const core::counters* const counts = impl_->rules().counts;
  holdfast::metrics m = counts ? counts->read() : holdfast::metrics{};
  m.backend = impl_->place();
  if (!impl_->is_of_this_process()) return m;
  const core::reach known = impl_->store().read_reach();
  m.connected = known.connected && !impl_->is_closed();
  m.reconnects = known.reconnects;
  return m;
}

bool client::close() noexcept { return !impl_ || !impl_->is_of_this_process() || impl_->close(); }

namespace detail {

client client_access::open(const url& where, const open_options& how, core::environment& env,
                           std::stop_token stop, std::span<const core::scheme> schemes) {
  return client(client_impl::open(where, how, env, std::move(stop), schemes));
}

client_impl& require_open(client_impl* const impl, std::string_view operation) {
  if (!impl) core::fail(errc::closed, operation, "the client is empty: open() it first");
  client_impl& c = *impl;
  if (!c.is_of_this_process())
    core::fail(errc::forked, operation, "open a client of its own after fork()", {}, c.text());
  if (c.is_closed()) core::fail(errc::closed, operation, "the client was closed", {}, c.text());
  return c;
}

client_impl& require_named(client_impl* const impl, std::string_view operation,
                           std::string_view name) {
  client_impl& c = require_open(impl, operation);
  std::string fault(core::name_fault(name));
  if (fault.empty()) fault = c.store().name_fault(name);
  if (!fault.empty()) core::fail(errc::bad_name, operation, std::move(fault), {}, c.text());
  return c;
}

void sort_by_name(std::vector<holder>& all) {
  std::sort(all.begin(), all.end(),
            [](const holder& a, const holder& b) { return a.name < b.name; });
}

client_impl& client_access::impl(const client& c) { return *c.impl_; }

}  // namespace detail
}  // namespace holdfast::inline v0
