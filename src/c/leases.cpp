#include <chrono>
#include <cstdint>

#include "c/handles.hpp"

namespace holdfast::c {
namespace {

// The lease of a handle; an empty one, which holds nothing, for null.
const lease& lease_of(const holdfast_lease* l) {
  static const holdfast::lease none;
  return l ? l->lease : none;
}

holdfast_lease& require(holdfast_lease* l, const char* operation) {
  if (!l) throw lock_error(make_error_code(errc::not_held), {operation, {}, {}, "lease is NULL"});
  return *l;
}

}  // namespace
}  // namespace holdfast::c

using holdfast::c::lease_of;
using holdfast::c::require;

int holdfast_lease_held(const holdfast_lease* lease) { return lease_of(lease).held(); }

int holdfast_lease_in_doubt(const holdfast_lease* lease) {
  int doubtful = 1;
  (void)holdfast::c::reported(nullptr, [&] { doubtful = lease_of(lease).in_doubt(); });
  return doubtful;
}

holdfast_errc holdfast_lease_check(const holdfast_lease* lease, holdfast_error** error) {
  return holdfast::c::reported(error, [&] { lease_of(lease).check(); });
}

std::int64_t holdfast_lease_token(const holdfast_lease* lease) { return lease_of(lease).token(); }

const char* holdfast_lease_name(const holdfast_lease* lease) {
  return lease ? lease->name.c_str() : "";
}

const char* holdfast_lease_owner(const holdfast_lease* lease) {
  return lease ? lease->owner.c_str() : "";
}

std::int64_t holdfast_lease_remaining_ms(const holdfast_lease* lease) {
  const auto left = lease_of(lease).remaining();
  if (left == holdfast::lease_clock::duration::max()) return INT64_MAX;
  return std::chrono::duration_cast<std::chrono::milliseconds>(left).count();
}

holdfast_errc holdfast_lease_extend(holdfast_lease* lease, std::int64_t ttl_ms,
                                    holdfast_error** error) {
  return holdfast::c::reported(error, [&] {
    require(lease, "extend").lease.extend(std::chrono::milliseconds(ttl_ms));
  });
}

holdfast_errc holdfast_lease_on_loss(holdfast_lease* lease, void (*callback)(void*), void* context,
                                     holdfast_error** error) {
  return holdfast::c::reported(error, [&] {
    holdfast_lease& l = require(lease, "on_loss");
    if (!l.lease) l.lease.check();
    l.on_loss.reset();
    if (callback)
      l.on_loss.emplace(l.lease.loss_token(), holdfast::c::loss_callback{callback, context});
  });
}

holdfast_errc holdfast_lease_release(holdfast_lease* lease, holdfast_error** error) {
  return holdfast::c::reported(error, [&] {
    holdfast_lease& l = require(lease, "release");
    l.on_loss.reset();
    l.lease.release();
  });
}

void holdfast_lease_free(holdfast_lease* lease) { delete lease; }
