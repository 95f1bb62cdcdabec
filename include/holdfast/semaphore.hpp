// A lock that several holders can have at once.
#pragma once
#include <holdfast/lockable.hpp>

#include <cstdint>

namespace holdfast {
inline namespace HOLDFAST_API v0 {

// A semaphore: its `total_permits` are divided among its holders. Its verbs are in lockable.hpp.
//
// A lease has acquire_options::permits of them, acquired all at once and returned with its release;
// the permits of a holder that crashes come back when its lease has expired. Waiting clients are
// served in the order of their arrival where the layout keeps one (features().fifo). A large
// request is not overtaken by later small ones, except by those of other clients with Redisson's
// permits and with mysql: there it can wait as long as small ones come and go.
//
// All programs must give the same number of permits for a name: while any permit is held or waited
// for, a semaphore of another number under that name fails with errc::mismatch, and so does a
// mutex.
//
// A semaphore has leases only, no lock(): a permit has no owner that unlock() could check. Tokens
// grow with the grants, but several of them are valid at once, so a guard cannot recognise a late
// write by them. A lease returns all its permits together. All members are safe to call from any
// thread.
//
// A semaphore may be destroyed, moved or assigned to while no thread waits: its leases stay valid.
// A moved-from semaphore can only be destroyed or assigned to. The destructor does not block.
//
//   lease acquire(const acquire_options& = {}, std::stop_token = {})
//   lease try_acquire(const acquire_options& = {}, std::stop_token = {})
//   lease try_acquire_for(duration, const acquire_options& = {}, std::stop_token = {})
//   lease try_acquire_until(time_point, const acquire_options& = {}, std::stop_token = {})
//   the same with a final std::error_code&, and async_... for Boost.Asio
//   std::uint32_t total_permits(), std::string_view name()
//
//   auto slots = client.semaphore("render-farm", 8);
//   holdfast::lease two = slots.acquire({.permits = 2});
class semaphore final : public acquirable<lock_mode::permit> {
 public:
  // total_permits  1 to permits_max
  // defaults       as for mutex; defaults.permits applies to verbs that are called without options
  // errc::bad_option   total_permits or a default is out of range
  // The others are those of mutex.
  semaphore(const client& c, std::string_view name, std::uint32_t total_permits,
            const acquire_options& defaults = {})
      : acquirable(c, name, {.kind = lock_kind::semaphore, .permits = checked(total_permits)},
                   defaults, sizeof defaults) {}
  semaphore(semaphore&&) noexcept = default;
  semaphore& operator=(semaphore&&) noexcept = default;

  static constexpr std::uint32_t permits_max = 1'000'000;  // the largest total
  std::uint32_t total_permits() const noexcept;            // the total

 private:
  static std::uint32_t checked(std::uint32_t total_permits);
};

}  // namespace v0
}  // namespace holdfast
