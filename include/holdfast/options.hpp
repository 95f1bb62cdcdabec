// How to hold a lock. How long to wait for it is in the verb, never here.
#pragma once
#include <holdfast/fwd.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

namespace holdfast {
inline namespace HOLDFAST_API v0 {

// As what a lock is held: `exclusive` by one holder, `shared` by any number of readers, `permit` as
// some of a semaphore's permits.
enum class lock_mode : unsigned char { exclusive, shared, permit };

enum class renewal : unsigned char {
  client_default,  // what the client's URL says (?renew=), else automatic
  automatic,       // the lease is extended before a third of its ttl is gone, until it is released
  manual,          // only lease::extend() extends it; unsupported where locks do not run out
};

// Options of one acquire. Every member is trivially destructible, and must stay so: GCC 12
// destroys other aggregates twice inside a co_await expression.
struct acquire_options {
  // Time to live of the lease: how long the store keeps it without a renewal, hence how long a dead
  // holder blocks the others. Default: the client's (?ttl=, else 30 s). From 100 ms to 366 days.
  // Where a lock ends with its holder (features().ttl is false) it has no effect: a dead holder's
  // lock comes free at once. Unsupported there with manual renewal, which promises that a living
  // holder's lock runs out, and with ?strict=1.
  std::chrono::milliseconds ttl{};
  renewal renew = renewal::client_default;
  // Shown to whoever asks who holds the lock; at most 256 bytes of UTF-8 without control
  // characters. Copied before the verb returns.
  std::string_view note{};
  // How many of a semaphore's permits, all at once; 1 for every other lock.
  std::uint32_t permits = 1;
  // The longest time that one holder may hold it, renewals included: after that the lease is lost,
  // and the lock comes free once its ttl has run out or the holder has left. Default: no limit.
  std::chrono::milliseconds max_hold{};
};
static_assert(std::is_aggregate_v<acquire_options>);
static_assert(std::is_trivially_destructible_v<acquire_options>);

// Options of client::open(). They are used instead of what the URL says, and no message shows them.
struct open_options {
  std::string_view password{};                              // copied
  std::optional<std::chrono::milliseconds> ttl{}, grace{};  // as ?ttl= and ?grace=
};
static_assert(std::is_trivially_destructible_v<open_options>);

}  // namespace v0
}  // namespace holdfast
