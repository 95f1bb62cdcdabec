// memory/renewal: what it costs to keep many leases alive.
#include <holdfast/holdfast.hpp>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "process_meter.hpp"
#include "row.hpp"

namespace bench {
namespace {

constexpr std::size_t lease_count = 100'000;

class held_leases {
 public:
  held_leases() {
    leases_.reserve(lease_count);
    for (std::size_t i = 0; i < lease_count; ++i)
      leases_.push_back(client_.mutex("order/" + std::to_string(1'000'000 + i)).acquire());
  }

  // The share of one core that the process uses while nothing but renewals goes on.
  outcome run(seconds length) {
    if (bytes_per_lease_ == 0) {
      // The first round comes a third of the ttl after the grants, and brings what a renewal
      // allocates once.
      std::this_thread::sleep_for(std::chrono::seconds{12});
      bytes_per_lease_ = measure_bytes_per_lease();
    }
    const auto earliest = check_all();
    const double cpu = process_cpu_seconds();
    const auto begun = std::chrono::steady_clock::now();
    std::this_thread::sleep_for(length);
    const double used = process_cpu_seconds() - cpu;
    const seconds passed = std::chrono::steady_clock::now() - begun;
    if (check_all() < earliest + length / 2)
      throw std::runtime_error("a lease was not renewed while the renewals were measured");
    return {used / passed.count(), {{"client bytes per lease", bytes_per_lease_}}};
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

  // What the heap has grown by, less what the store itself keeps of these locks. That is taken to
  // be what it grows by when it copies them for a snapshot: less than the original, which has room
  // for the clients' addresses too, so the client's part is, if anything, told too large.
  double measure_bytes_per_lease() {
    const std::size_t with_store = heap_in_use() - heap_before_;
    const std::size_t before = heap_in_use();
    store_.snapshot();
    const std::size_t store = heap_in_use() - before;
    return static_cast<double>(with_store - store) / static_cast<double>(lease_count);
  }

  holdfast::memory_store store_{"bench"};
  holdfast::client client_ = holdfast::client::open(store_.url() + "?ttl=30s");
  std::size_t heap_before_ = heap_in_use();
  std::vector<holdfast::lease> leases_;
  double bytes_per_lease_ = 0;
};

}  // namespace

std::vector<contest> memory_renewal() {
  const auto leases = std::make_shared<held_leases>();
  return {{"", {}, [leases](seconds length) { return leases->run(length); }}};
}

}  // namespace bench
