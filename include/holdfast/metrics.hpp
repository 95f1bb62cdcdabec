// What a client has counted: how often locks were taken, how long it waited for them and held them.
#pragma once
#include <holdfast/export.hpp>

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

// How many durations were how long. Bucket i counts those above bounds[i - 1] and at most
// bounds[i]; the last one all that were longer. Not cumulative.
struct duration_histogram {
  static constexpr std::array<std::chrono::nanoseconds, 16> bounds{
      std::chrono::microseconds{1},   std::chrono::microseconds{10},  std::chrono::microseconds{50},
      std::chrono::microseconds{100}, std::chrono::microseconds{500}, std::chrono::milliseconds{1},
      std::chrono::milliseconds{5},   std::chrono::milliseconds{10},  std::chrono::milliseconds{50},
      std::chrono::milliseconds{100}, std::chrono::milliseconds{500}, std::chrono::seconds{1},
      std::chrono::seconds{5},        std::chrono::seconds{10},       std::chrono::seconds{60},
      std::chrono::seconds{600}};

  std::array<std::uint64_t, bounds.size() + 1> buckets{};
  std::chrono::nanoseconds sum{};
  std::uint64_t count() const noexcept;

  bool operator==(const duration_histogram&) const = default;
};

// A snapshot of client::metrics(). But for `connected` everything is counted from the client's
// open() on and only ever grows. Figures of one snapshot may be apart by what happened while it was
// taken.
struct metrics {
  struct by_mode {  // as what the lock was asked for
    duration_histogram exclusive, shared, permit;
    bool operator==(const by_mode&) const = default;
  };

  bool counted = false;  // false: the client counts nothing, its URL has no ?metrics=1
  std::string backend;   // where the store is: client::url_text() without its options

  // The store is in reach; true where nothing can be lost, as for file:. Known although nothing is
  // counted. False also before the first connection.
  bool connected = false;
  std::uint64_t reconnects = 0;  // how often the store came in reach again after it was lost

  // From the ask to the grant, of acquires that were granted: count() is how many there were. At a
  // store that answers from inside a request, as memory: does, an ask that waits for nobody is 0.
  by_mode waits;
  by_mode holds;  // from the grant to the release, of leases that were given back
  // Acquires that were not granted: somebody else held the lock, the time given passed, or the wait
  // was stopped. Attempts of try_ verbs count too.
  std::uint64_t busy = 0;
  // Acquires, releases and extensions that went wrong, by holdfast::outcome. An unlock() that the
  // store could not confirm counts too.
  std::uint64_t errors_unavailable = 0, errors_lost = 0, errors_usage = 0;

  std::uint64_t grants = 0;         // of the store, to this client
  std::uint64_t grants_handed = 0;  // of them: handed over while this client waited, by whoever
                                    // released (redis:)
  // Turns that began without the store: passed on by a holder to the next one in line; beside other
  // readers under their grant; under a grant that was kept for ?linger=.
  std::uint64_t local_handoffs = 0, shares_joined = 0, linger_reuses = 0;

  std::uint64_t renewals_sent = 0, renewals_confirmed = 0;  // of grants, extend() included
  duration_histogram renewal_lag;  // how much later than planned one was confirmed

  std::uint64_t doubts = 0;  // doubtful() was requested, or would have been had somebody asked
  std::uint64_t losses = 0;  // leases lost while they were held; not those of a closed client

  // Adds what another client counted. Both are connected if each is.
  metrics& operator+=(const metrics&) noexcept;
  bool operator==(const metrics&) const = default;
};

// A label for every series, its value any UTF-8. The names backend, mode, outcome and le are taken.
using metric_label = std::pair<std::string_view, std::string_view>;

// In the text exposition format of Prometheus, 0.0.4, as docs/metrics.md lists it; each series has
// the label backend. Of several clients those of one backend are summed, and those that count
// nothing are left out. Throws lock_error, errc::bad_option, for a label name that is not
// [a-zA-Z_][a-zA-Z0-9_]*, begins with two underscores or is taken.
HOLDFAST_API std::string to_prometheus(std::span<const metrics> of,
                                       std::span<const metric_label> = {});
HOLDFAST_API std::string to_prometheus(const metrics& of, std::span<const metric_label> = {});

}  // namespace v0
}  // namespace holdfast
