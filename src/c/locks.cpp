#include <chrono>

#include "c/handles.hpp"

namespace holdfast::c {
namespace {

using std::chrono::milliseconds;

struct acquire_of_c {
  const char* operation;
  const holdfast_client* client;
  std::string_view name;
  std::optional<milliseconds> within;  // unset: until the lock is granted
  holdfast_acquire_options options;
  std::stop_token stop;

  acquire_options terms() const {
    acquire_options o;
    if (options.renew < HOLDFAST_RENEW_DEFAULT || options.renew > HOLDFAST_RENEW_MANUAL)
      refuse_option(operation, "options->renew is not a holdfast_renewal");
    o.renew = static_cast<renewal>(options.renew);
    if (options.ttl_ms != 0) o.ttl = milliseconds(options.ttl_ms);
    if (options.max_hold_ms != 0) o.max_hold = milliseconds(options.max_hold_ms);
    if (options.permits != 0) o.permits = options.permits;
    o.note = text_or_empty(options.note);
    return o;
  }

  template <class Lock>
  lease of(const Lock& lock) const {
    return within ? lock.try_acquire_for(*within, terms(), stop) : lock.acquire(terms(), stop);
  }

  lease shared_of(const shared_mutex& lock) const {
    return within ? lock.try_acquire_shared_for(*within, terms(), stop)
                  : lock.acquire_shared(terms(), stop);
  }

  lease run() const {
    const holdfast::client& c = client_of(client);
    if (options.mode != HOLDFAST_PERMIT && options.total_permits != 0)
      refuse_option(operation, "options->total_permits has a meaning with HOLDFAST_PERMIT only");
    switch (options.mode) {
      case HOLDFAST_MUTEX: return of(c.mutex(name));
      case HOLDFAST_SHARED: return shared_of(c.shared_mutex(name));
      case HOLDFAST_EXCLUSIVE: return of(c.shared_mutex(name));
      case HOLDFAST_PERMIT: return of(c.semaphore(name, options.total_permits));
    }
    refuse_option(operation, "options->mode is not a holdfast_mode");
  }
};

[[noreturn]] void report_busy(const acquire_of_c& call) {
  const bool stopped = call.stop.stop_requested();
  throw lock_error(make_error_code(stopped ? errc::canceled : errc::timed_out),
                   {call.operation, std::string(call.name), client_of(call.client).url_text(),
                    stopped ? "the wait was stopped"
                            : "it was not granted in time, because another holder has it"});
}

holdfast_errc acquire(const char* operation, const holdfast_client* client, const char* name,
                      std::optional<milliseconds> within, const holdfast_acquire_options* options,
                      holdfast_lease** to, holdfast_error** error) {
  if (to) *to = nullptr;
  return reported(error, [&] {
    if (!to) refuse_option(operation, "lease is NULL");
    acquire_of_c call{operation,
                      client,
                      text_or_empty(name),
                      within,
                      read_options(options, operation),
                      {}};
    if (call.options.stop) call.stop = call.options.stop->source.get_token();
    auto made = std::make_unique<holdfast_lease>();
    made->name = call.name;
    made->lease = call.run();
    if (!made->lease) report_busy(call);
    made->owner = made->lease.owner();
    made->log = client->log;
    *to = made.release();
  });
}

}  // namespace
}  // namespace holdfast::c

using holdfast::c::milliseconds;

holdfast_errc holdfast_acquire(const holdfast_client* client, const char* name,
                               const holdfast_acquire_options* options, holdfast_lease** lease,
                               holdfast_error** error) {
  return holdfast::c::acquire("acquire", client, name, std::nullopt, options, lease, error);
}

holdfast_errc holdfast_try_acquire(const holdfast_client* client, const char* name,
                                   const holdfast_acquire_options* options, holdfast_lease** lease,
                                   holdfast_error** error) {
  return holdfast::c::acquire("try_acquire", client, name, milliseconds(0), options, lease, error);
}

holdfast_errc holdfast_try_acquire_for(const holdfast_client* client, const char* name,
                                       std::int64_t timeout_ms,
                                       const holdfast_acquire_options* options,
                                       holdfast_lease** lease, holdfast_error** error) {
  return holdfast::c::acquire("try_acquire_for", client, name, milliseconds(timeout_ms), options,
                              lease, error);
}
