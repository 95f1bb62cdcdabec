#include "cohort/checked_request.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "seam/name.hpp"

namespace holdfast::inline v0::detail {
namespace {

bool is_renewed(const acquire_options& o, const cohort::lock_rules& rules) noexcept {
  return o.renew == renewal::client_default ? rules.options.renew : o.renew == renewal::automatic;
}

// A ttl bounds how long a dead holder blocks the others; where a grant ends with its holder that
// bound needs no ttl. Without renewal, a ttl also promises that a living holder's lock ends.
base::failure ttl_fault(const acquire_options& o, const cohort::lock_rules& rules) {
  const bool has_ttl = rules.can.core_renews();
  if (!has_ttl && !is_renewed(o, rules))
    return {errc::unsupported, rules.can.has_deadlines()
                                   ? "locks of this backend live as long as the client's session, "
                                     "so renewal cannot be turned off"
                                   : "locks of this backend never expire, so renewal cannot be "
                                     "turned off"};
  if (!o.ttl) return {};
  if (!has_ttl && rules.options.strict)
    return {errc::unsupported, "its locks have no ttl; leave the option out, or ?strict=1"};
  const auto fault = seam::ttl_fault(*o.ttl, rules.options);
  if (!fault.empty()) return {errc::bad_option, std::string(fault)};
  return seam::limit_fault(*o.ttl, rules.can.ttl_max);
}

}  // namespace

base::failure options_fault(const acquire_options& o, std::uint32_t permits_in_all,
                            const cohort::lock_rules& rules) {
  if (base::failure why = ttl_fault(o, rules); why.code) return why;
  if (o.max_hold && o.max_hold->count() <= 0)
    return {errc::bad_option, "give a max_hold above 0, or none"};
  const std::uint32_t limit = std::max(permits_in_all, 1u);
  if (o.permits == 0 || o.permits > limit)
    return {errc::bad_option, "it requests " + std::to_string(o.permits) + " permits; give 1" +
                                  (limit == 1 ? "" : " to " + std::to_string(limit))};
  const auto fault = o.note.empty() ? std::string_view() : seam::note_fault(o.note);
  if (!fault.empty()) return {errc::bad_option, std::string(fault)};
  return {};
}

acquire_options normalized(const acquire_options& given, std::size_t size) noexcept {
  if (size == sizeof given) return given;
  acquire_options known;
  std::memcpy(static_cast<void*>(&known), &given, std::min(size, sizeof known));
  return known;
}

acquire_options options_of(const acquire_call& c, const lock_defaults* defaults) noexcept {
  if (!c.options) return defaults ? defaults->all() : acquire_options();
  acquire_options o = normalized(*c.options, c.options_size);
  if (defaults) defaults->fill_in(o);
  return o;
}

base::failure checked_request::read(lock_mode mode, const acquire_options& o, local_lock& home) {
  if (!home.client().is_of_this_process()) return {errc::forked, {}};
  const cohort::lock_rules& rules = home.rules();
  base::failure why = options_fault(o, home.permits(), rules);
  if (why.code) {
    if (rules.counts) rules.counts->failed(why.code);
    return why;
  }
  request.ttl = o.ttl.value_or(rules.options.ttl);
  request.note = o.note;
  request.mode = mode;
  request.permits = o.permits;
  request.total_permits = home.permits();
  renews = is_renewed(o, rules);
  if (o.max_hold && *o.max_hold < std::chrono::hours{24 * 365 * 100})
    max_hold = *o.max_hold;  // a longer one is no limit
  return {};
}

}  // namespace holdfast::inline v0::detail
