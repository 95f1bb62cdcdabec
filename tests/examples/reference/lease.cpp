#include <holdfast/holdfast.hpp>

#include <stop_token>

bool next_step(std::int64_t token);  // false: the work is done
void stop_working();

void work_in_steps(const holdfast::mutex& lock) {
  holdfast::lease lease = lock.acquire();
  const std::stop_callback when_lost(lease.loss_token(), [] { stop_working(); });
  while (!lease.in_doubt() && next_step(lease.token())) {}
  lease.release();  // throws errc::lost if the lock was lost before it was released
}
