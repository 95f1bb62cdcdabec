// A lock that several holders can have at once.
#pragma once
#include <holdfast/lockable.hpp>

#include <cstdint>

namespace holdfast {
inline namespace HOLDFAST_API v0 {

// A semaphore: its `permits` are divided among its holders. Its verbs are in lockable.hpp.
//
// A lease has acquire_options::permits of them, acquired all at once and returned with its release;
// the permits of a holder that crashes come back when its lease has expired. Waiters are served in
// the order of their arrival where the backend keeps one (features().fifo), and on every backend a
// large request is not overtaken by later small ones.
//
// All programs must give the same number of permits for a name: while any permit is held or waited
// for, a semaphore of another number under that name fails with errc::mismatch, and so does a
// mutex.
//
// Leases only: a permit has no owner object, so this is no Lockable. Tokens grow with the grants,
// but several of them are valid at once, so a guard cannot recognise a late write by them. Safe to
// use from any thread.
//
//   auto slots = client.semaphore("render-farm", 8);
//   holdfast::lease two = slots.acquire({.permits = 2});
class semaphore final : public acquirable<lock_mode::permit> {
 public:
  // permits   the total, 1 to permits_max
  // defaults  as for mutex; defaults.permits applies to verbs that are called without options
  // errc::bad_option   permits or a default is out of range
  // The others are those of mutex.
  semaphore(const client& c, std::string_view name, std::uint32_t permits,
            const acquire_options& defaults = {})
      : acquirable(c, name, {false, checked(permits)}, defaults, sizeof defaults) {}
  semaphore(semaphore&&) noexcept = default;
  semaphore& operator=(semaphore&&) noexcept = default;

  static constexpr std::uint32_t permits_max = 1'000'000;
  std::uint32_t permits() const noexcept;  // the total

 private:
  static std::uint32_t checked(std::uint32_t permits);
};

}  // namespace v0
}  // namespace holdfast
