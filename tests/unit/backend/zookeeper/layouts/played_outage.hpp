// An outage in which each server refuses every connection.
#pragma once
#include <chrono>
#include <vector>

#include "tests/unit/backend/zookeeper/layouts/layout_fixture.hpp"

namespace holdfast::zookeeper_unit {

inline constexpr std::chrono::seconds outage_timeout{9};
inline constexpr std::chrono::milliseconds last_attempt_lead{100};  // an eighth of the op-timeout

class played_outage : public layout_fixture {
 public:
  played_outage() : layout_fixture("outage-timeout=9s&op-timeout=800ms") {}

  void last(std::chrono::milliseconds length) {
    constexpr std::chrono::milliseconds step{5};
    for (std::chrono::milliseconds end = now_ + length; now_ < end; now_ += step) {
      while (is_connecting()) {
        attempts_.push_back(now_);
        lose();
      }
      pass(step);
    }
  }
  // Alone.
  void be_granted(const seam::acquire_request& request = {}) {
    claim->acquire(request);
    (void)requests();
    answer(5, created(own_name("0000000001")));
    answer(5, stat(1, 1, 5));
  }
  // Counted from the start of the outage.
  bool attempted_between(std::chrono::milliseconds from, std::chrono::milliseconds to) const {
    for (const auto t : attempts_)
      if (from <= t && t < to) return true;
    return false;
  }
  std::size_t attempts() const { return attempts_.size(); }

 private:
  std::chrono::milliseconds now_{};
  std::vector<std::chrono::milliseconds> attempts_;
};

}  // namespace holdfast::zookeeper_unit
