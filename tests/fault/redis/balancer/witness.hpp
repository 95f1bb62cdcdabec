// The beliefs of clients about locks, as a witness records them, and the contradictions among them.
#pragma once
#include <holdfast/clock.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace holdfast::redis_test {

using instant = lease_clock::time_point;

// One holder of a lock, for as long as it is proven to have believed so: from the return of its
// acquire to the last call of held() that returned true. A lost lease is never held again.
struct stay {
  std::string lock;
  unsigned weight = 1, capacity = 1;  // those who hold together weigh no more than the capacity
  std::int64_t token = 0;
  instant called, from, to;  // the acquire was called; it returned; held() was last true
};

// Some time in which more held than may. Its length is that of the time in which one of them could
// meet others, though each of those was there for a moment only.
struct overlap {
  std::string lock;
  instant from;
  std::chrono::milliseconds length{};
};

std::vector<overlap> overlaps_in(std::vector<stay>);
// Exclusive holders whose token is not above one that was granted before they were called.
std::vector<stay> tokens_back_in(const std::vector<stay>&);

// The resource that a lock guards: accepts no token below one that it has accepted.
class guarded_counter {
 public:
  bool write(std::int64_t token) noexcept;

 private:
  std::atomic<std::int64_t> last_{0};
};

class witness {
 public:
  void add(const stay&);
  std::vector<stay> take();  // those that were added since the last call

 private:
  std::mutex mutex_;
  std::vector<stay> stays_;
};

}  // namespace holdfast::redis_test
