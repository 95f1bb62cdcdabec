// redis/renewal: what it costs the client to keep many leases alive.
#include <holdfast/holdfast.hpp>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "process_meter.hpp"
#include "redis/stage.hpp"
#include "row.hpp"

namespace bench {
namespace {

constexpr std::size_t lock_count = 100'000;
constexpr std::chrono::seconds until_renewed{12};  // the first time: a third of the ttl and a bit

class held_locks {
 public:
  held_locks() {
    leases_.reserve(lock_count);
    for (std::size_t i = 0; i < lock_count; ++i)
      leases_.push_back(client_.mutex("order/" + std::to_string(1'000'000 + i)).acquire());
  }

  // The share of one core that this process, which is not the server, uses while it only renews.
  outcome run(seconds length) {
    if (bytes_per_lock_ == 0) {
      std::this_thread::sleep_for(until_renewed);
      bytes_per_lock_ = static_cast<double>(heap_in_use() - heap_before_) / lock_count;
    }
    const auto earliest = check_all();
    const double cpu = process_cpu_seconds();
    const auto begun = std::chrono::steady_clock::now();
    std::this_thread::sleep_for(length);
    const double used = process_cpu_seconds() - cpu;
    const seconds passed = std::chrono::steady_clock::now() - begun;
    if (check_all() < earliest + length / 2)
      throw std::runtime_error("a lease was not renewed while the renewals were measured");
    return {used / passed.count(), {{"client bytes per lock", bytes_per_lock_}}};
  }

 private:
  // Throws unless every lease is held; the earliest expiry.
  holdfast::lease_clock::time_point check_all() const {
    auto earliest = holdfast::lease_clock::time_point::max();
    for (const holdfast::lease& l : leases_) {
      l.check();
      earliest = std::min(earliest, l.expires());
    }
    return earliest;
  }

  redis_stage stage_;
  holdfast::client client_ = holdfast::client::open(stage_.url("?ttl=30s"));
  std::size_t heap_before_ = heap_in_use();
  std::vector<holdfast::lease> leases_;
  double bytes_per_lock_ = 0;
};

}  // namespace

std::vector<contest> redis_renewal() {
  const auto locks = std::make_shared<held_locks>();
  return {{"", {}, [locks](seconds length) { return locks->run(length); }}};
}

}  // namespace bench
