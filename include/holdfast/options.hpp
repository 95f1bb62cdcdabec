// The options of an acquire. The time to wait is an argument of the verb, never an option.
#pragma once
#include <holdfast/fwd.hpp>
#include <holdfast/log.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

namespace holdfast {
inline namespace HOLDFAST_API v0 {

// The mode in which a lock is held: `exclusive` by one holder, `shared` by any number of readers,
// `permit` for some of a semaphore's permits.
enum class lock_mode : unsigned char { exclusive, shared, permit };

// The kinds of locks. `mutex` includes recursive_mutex. A store may keep each kind in a layout of
// its own: client::features() describes each kind.
enum class lock_kind : unsigned char { mutex, shared_mutex, semaphore };

enum class renewal : unsigned char {
  client_default,  // the client's setting: ?renew= of its URL, else automatic
  automatic,       // the lease is extended before a third of its ttl has passed, until its release
  manual,          // only lease::extend() extends it; unsupported where locks do not expire
};

// The options of one acquire. An option that is not set comes from the defaults of the lock, else
// from the client. Every member is trivially destructible and must stay so, because GCC 12 destroys
// other aggregates twice inside a co_await expression.
struct acquire_options {
  // The time for which the store keeps the lease without a renewal, and therefore the time for
  // which a dead holder can block the others. From 100 ms to 366 days; unset: the client's (?ttl=,
  // else 30 s). No effect where locks have no ttl (features().ttl is false): a dead holder's lock
  // is free at once with file:, when its session has timed out with zookeeper:, and when its
  // connection ends with the strategies for-update and named of mysql:. There errc::unsupported
  // with ?strict=1, and with manual renewal, which requires that a lock can expire while its holder
  // is alive.
  std::optional<std::chrono::milliseconds> ttl{};
  renewal renew = renewal::client_default;  // whether the library renews the lease
  // Shown in the list of holders; at most 256 bytes of UTF-8 without control characters; default:
  // none. Copied before the verb returns.
  std::string_view note{};
  // The number of a semaphore's permits to acquire, all at once; 1 for every other lock.
  std::uint32_t permits = 1;
  // The longest time that one holder may have the lock, renewals included; above 0; unset: no
  // limit. After that time the lease is lost. The lock is free once its ttl has passed or the
  // holder has released it; where locks have no ttl (features().ttl is false), once the holder has
  // released it.
  std::optional<std::chrono::milliseconds> max_hold{};
};
static_assert(std::is_aggregate_v<acquire_options>);
static_assert(std::is_trivially_destructible_v<acquire_options>);

// The options of client::open(). They override the options of the URL, and no message shows them.
struct open_options {
  std::string_view password{};  // default: that of the URL; copied
  // As ?ttl= (default 30 s) and ?grace= (default 0) of the URL.
  std::optional<std::chrono::milliseconds> ttl{}, grace{};
  // Receives the log lines of this client, and those of this open(); default: the hook of the
  // process (set_log_hook()). What log_context points to outlives the client, its locks and leases.
  log_hook log = nullptr;
  void* log_context = nullptr;
};
static_assert(std::is_trivially_destructible_v<open_options>);

}  // namespace v0
}  // namespace holdfast
