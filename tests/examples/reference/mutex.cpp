#include <holdfast/holdfast.hpp>

#include <chrono>
#include <mutex>

using namespace std::chrono_literals;

void run_nightly_job();

void nightly(const holdfast::client& client) {
  holdfast::mutex lock = client.mutex("nightly");
  {
    const std::lock_guard guard(lock);  // blocks until no other process holds "nightly"
    run_nightly_job();
  }
  if (const holdfast::lease lease = lock.try_acquire_for(2s); lease.held())
    run_nightly_job();  // not reached where another process held the lock for two seconds
}
