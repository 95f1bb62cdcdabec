// The metrics of one client. Off unless its URL has ?metrics=1.
#pragma once
#include <holdfast/metrics.hpp>
#include <holdfast/options.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <system_error>

#include "base/environment.hpp"

namespace holdfast::cohort {
using namespace base;

// Written and read by any thread without a lock. Up to 64 threads of the process have a page of
// their own each, on which they count without locked instructions; all others share one page.
class counters {
 public:
  enum counter : unsigned {
    busy,
    errors_unavailable,
    errors_lost,
    errors_usage,
    grants,
    grants_handed,
    local_handoffs,
    shares_joined,
    linger_reuses,
    renewals_sent,
    renewals_confirmed,
    doubts,
    losses,
    counter_count,
  };

  counters() = default;
  ~counters();
  counters(const counters&) = delete;
  counters& operator=(const counters&) = delete;

  void count(counter) noexcept;
  void failed(std::error_code) noexcept;  // of an acquire, a release or an extension
  void waited(lock_mode, duration) noexcept;
  void held(lock_mode, duration) noexcept;
  void lagged(duration) noexcept;
  metrics read() const;  // without the backend's fields

 private:
  using number = std::atomic<std::uint64_t>;
  struct histogram {
    std::array<number, duration_histogram::bounds.size() + 1> buckets{};
    number sum{};
  };
  static constexpr std::size_t modes = 3, lag = 2 * modes;
  struct alignas(64) page {
    std::array<number, counter_count> counts{};
    std::array<histogram, lag + 1> histograms{};  // waits by mode, holds by mode, lag
    void add_to(metrics&) const noexcept;
  };
  struct place {  // the page on which the calling thread counts
    page& of;
    bool is_own;
    void add(number&, std::uint64_t) const noexcept;
  };
  static constexpr unsigned own_pages = 64;

  place here() noexcept;
  void note(std::size_t histogram, duration) noexcept;

  std::array<std::atomic<page*>, own_pages> own_{};  // made at the first count of their thread
  page shared_;
};

}  // namespace holdfast::cohort
