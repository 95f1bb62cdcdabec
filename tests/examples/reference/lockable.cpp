#include <holdfast/holdfast.hpp>

#include <chrono>
#include <stop_token>
#include <system_error>

using namespace std::chrono_literals;

// The forms of one verb. The other locks have the same ones.
bool every_form(const holdfast::mutex& lock, std::stop_token stop) {
  std::error_code ec;
  { const holdfast::lease lease = lock.acquire(); }  // waits, or throws lock_error
  { const holdfast::lease lease = lock.acquire({.ttl = 10s}, stop); }  // a request ends the wait
  const holdfast::lease lease = lock.try_acquire_for(1s, {.note = "by hand"}, stop, ec);
  if (ec) return false;  // the store cannot be reached, for example
  return lease.held();   // false: the lock was busy for one second
}
