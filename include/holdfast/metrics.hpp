// The counters of a client: how often it acquired locks, and how long it waited for and held them.
#pragma once
#include <holdfast/detail/export.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace holdfast {
inline namespace HOLDFAST_API v0 {

// A histogram of durations. Bucket i counts the durations above bounds[i - 1] and at most
// bounds[i], the last bucket all longer ones. Not cumulative.
struct duration_histogram {
  static constexpr std::array<std::chrono::nanoseconds, 16> bounds{
      std::chrono::microseconds{1},   std::chrono::microseconds{10},  std::chrono::microseconds{50},
      std::chrono::microseconds{100}, std::chrono::microseconds{500}, std::chrono::milliseconds{1},
      std::chrono::milliseconds{5},   std::chrono::milliseconds{10},  std::chrono::milliseconds{50},
      std::chrono::milliseconds{100}, std::chrono::milliseconds{500}, std::chrono::seconds{1},
      std::chrono::seconds{5},        std::chrono::seconds{10},       std::chrono::seconds{60},
      std::chrono::seconds{600}};  // the upper bounds of the buckets but the last one

  std::array<std::uint64_t, bounds.size() + 1> buckets{};  // the number of durations in each
  std::chrono::nanoseconds sum{};                          // of all durations
  std::uint64_t count() const noexcept;                    // of all buckets

  bool operator==(const duration_histogram&) const = default;
};

// A snapshot of a client's counters, as client::metrics() returns it: a value, independent of the
// client. Except for `connected` every figure is counted since open() and never decreases. Events
// during the snapshot may be in some of its figures only.
struct metrics {
  struct by_mode {                                 // the mode that was requested
    duration_histogram exclusive, shared, permit;  // one for each mode
    bool operator==(const by_mode&) const = default;
  };

  bool counted = false;  // false: the URL has no ?metrics=1, so nothing is counted
  std::string backend;   // the store: client::url_text() without its options

  // Whether the store is in reach, with or without ?metrics=1. Always true where nothing can be
  // lost, as for file:. False before the first connection, and after close(). A client that holds
  // no lock and requests none may notice a lost connection only with its next request.
  bool connected = false;
  std::uint64_t reconnects = 0;  // how often the store came back into reach

  // Time from the call to the grant, of acquires that were granted; count() is their number. An
  // acquire that does not wait counts as 0 at a store that replies within the request (memory:).
  by_mode waits;
  by_mode holds;  // time from the grant to the release, of leases that were released
  // Acquires that were not granted because another holder had the lock, the time given passed, or
  // the wait was stopped. Attempts of try_ verbs are included.
  std::uint64_t busy = 0;
  // Failed acquires, releases and extensions, by holdfast::outcome. An unlock() that the store did
  // not confirm is included.
  std::uint64_t errors_unavailable = 0, errors_lost = 0, errors_usage = 0;

  std::uint64_t grants = 0;         // grants of the store to this client
  std::uint64_t grants_handed = 0;  // of these: handed over by the previous holder's release while
                                    // this client waited (redis:)
  // Leases that were granted without the store: by a local hand-off to the next waiter; next to
  // other readers under their grant; under a grant that was kept by ?linger=.
  std::uint64_t local_handoffs = 0, shares_joined = 0, linger_reuses = 0;

  std::uint64_t renewals_sent = 0, renewals_confirmed = 0;  // of grants; extend() included
  duration_histogram renewal_lag;  // how much later than planned a renewal was confirmed

  std::uint64_t doubts = 0;  // leases that became doubtful
  std::uint64_t losses = 0;  // leases lost while they were held, except by close()

  // Adds the figures of another client. The sum is connected if both are; a sum that has counted
  // nothing yet takes the other's `connected`.
  metrics& operator+=(const metrics&) noexcept;
  bool operator==(const metrics&) const = default;
};

// A name and a value that label every series. The value is any UTF-8; the names backend, mode,
// outcome and le are reserved.
using metric_label = std::pair<std::string_view, std::string_view>;

// Formats snapshots for Prometheus, in its text exposition format 0.0.4
// (https://prometheus.io/docs/instrumenting/exposition_formats/). docs/metrics.md lists the series;
// each has the label backend.
//
// of      snapshots of one or several clients: those of one backend are summed, and those that
//         count nothing are left out
// labels  added to every series; default: none
// errc::bad_option  a label name is not [a-zA-Z_][a-zA-Z0-9_]*, begins with two underscores or is
//                   reserved
// Does not block. Safe to call from any thread.
HOLDFAST_API std::string to_prometheus(std::span<const metrics> of,
                                       std::span<const metric_label> = {});
HOLDFAST_API std::string to_prometheus(const metrics& of, std::span<const metric_label> = {});

}  // namespace v0
}  // namespace holdfast
