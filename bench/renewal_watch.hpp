// Many leases that are kept alive, and what that costs.
#pragma once
#include <holdfast/holdfast.hpp>

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "process_meter.hpp"
#include "row.hpp"

namespace bench {

class renewal_watch {
 public:
  static constexpr std::size_t lease_count = 100'000;

  // `bytes_that_count` is given by how much the heap has grown for all leases of `client`, whose
  // ttl is 30 s, and answers what of that is the client's.
  renewal_watch(holdfast::client client, std::string what_is_counted,
                std::function<std::size_t(std::size_t)> bytes_that_count)
      : client_(std::move(client)),
        what_is_counted_(std::move(what_is_counted)),
        bytes_that_count_(std::move(bytes_that_count)) {
    leases_.reserve(lease_count);
    for (std::size_t i = 0; i < lease_count; ++i)
      leases_.push_back(client_.mutex("order/" + std::to_string(1'000'000 + i)).acquire());
  }

  // The share of one core that this process uses while nothing but renewals goes on.
  outcome run(seconds length) {
    if (bytes_each_ == 0) {
      // The first round comes a third of the ttl after the grants, and brings what a renewal
      // allocates once.
      std::this_thread::sleep_for(std::chrono::seconds{12});
      const auto bytes = bytes_that_count_(heap_in_use() - heap_before_);
      bytes_each_ = static_cast<double>(bytes) / lease_count;
    }
    const auto earliest = check_all();
    const double cpu = process_cpu_seconds();
    const auto begun = std::chrono::steady_clock::now();
    std::this_thread::sleep_for(length);
    const double used = process_cpu_seconds() - cpu;
    const seconds passed = std::chrono::steady_clock::now() - begun;
    if (check_all() < earliest + length / 2)
      throw std::runtime_error("a lease was not renewed while the renewals were measured");
    return {used / passed.count(), {{what_is_counted_, bytes_each_}}};
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

  holdfast::client client_;
  const std::string what_is_counted_;
  const std::function<std::size_t(std::size_t)> bytes_that_count_;
  const std::size_t heap_before_ = heap_in_use();
  std::vector<holdfast::lease> leases_;
  double bytes_each_ = 0;
};

}  // namespace bench
