// What one client counts. Off unless its URL says ?metrics=1.
#pragma once
#include <holdfast/metrics.hpp>
#include <holdfast/options.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <system_error>

#include "base/environment.hpp"

namespace holdfast::core {

// Written by any thread without a lock, and read by any. Up to 64 threads of the process have a
// page each to themselves, in which they count without a locked instruction; all others share one.
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
  void failed(std::error_code) noexcept;  // an acquire, a release or an extension
  void waited(lock_mode, duration) noexcept;
  void held(lock_mode, duration) noexcept;
  void lagged(duration) noexcept;
  metrics read() const;  // without the backend

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
  struct place {  // where the calling thread counts
    page& of;
    bool is_own;
    void add(number&, std::uint64_t) const noexcept;
  };
  static constexpr unsigned own_pages = 64;

  place here() noexcept;
  void note(std::size_t histogram, duration) noexcept;

  std::array<std::atomic<page*>, own_pages> own_{};  // made by the first count of their threads
  page shared_;
};

}  // namespace holdfast::core
