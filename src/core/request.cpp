#include "core/request.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "core/name.hpp"

namespace holdfast::inline v0::detail {
namespace {

acquire_options as_we_know_them(const acquire_options& given, std::size_t size) {
  if (size == sizeof(acquire_options)) return given;
  acquire_options known;
  std::memcpy(static_cast<void*>(&known), &given, std::min(size, sizeof known));
  return known;
}

core::failure fault_of(const acquire_options& o, const core::lock_rules& rules) {
  const bool has_ttl = rules.can.life == core::bound_to::ttl;
  if (o.ttl.count() != 0) {
    if (!has_ttl) return {errc::unsupported, "its locks have no ttl; leave the option out"};
    if (o.ttl < core::ttl_min || o.ttl > core::ttl_max)
      return {errc::bad_option, "give a ttl from 100 ms to 366 days"};
  }
  if (const auto fault = core::note_fault(o.note); !fault.empty())
    return {errc::bad_option, std::string(fault)};
  return {};
}

}  // namespace

core::failure request::read(const acquire_options& given, std::size_t size, wait_bound bound,
                            client_impl& client) {
  if (!client.is_of_this_process()) return {errc::forked, {}};
  const core::lock_rules& rules = client.rules();
  const acquire_options o = as_we_know_them(given, size);
  if (core::failure why = fault_of(o, rules); why.code) return why;
  const auto ttl = o.ttl.count() != 0 ? o.ttl : rules.options.ttl;
  how = {bound.what == wait_bound::kind::one_attempt, ttl, o.note};
  renews = o.renew == renewal::client_default ? rules.options.renew : o.renew == renewal::automatic;
  return {};
}

}  // namespace holdfast::inline v0::detail
