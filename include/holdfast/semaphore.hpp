// A lock that so many may hold at once.
#pragma once
#include <holdfast/lockable.hpp>

#include <cstdint>

namespace holdfast {
inline namespace HOLDFAST_API v0 {

// `permits` of them, the same number for all who use the name: while any is held or waited for, a
// semaphore of another count under that name is refused with errc::mismatch, and so is a mutex. A
// lease has acquire_options::permits of them, all at once, and gives them back with its release;
// those of a holder that crashes come back when its lease has run out. Who waits is served in the
// order of arrival: a large request is not passed by small ones.
//
// Leases only: a permit has no owner object, so this is no Lockable. Tokens order the grants, but
// several of them are valid at once: a guard cannot tell which. Safe from any thread.
class semaphore final : public acquirable<lock_mode::permit> {
 public:
  // Throws errc::bad_option unless permits is 1 to permits_max, and what client::mutex throws.
  // defaults.permits counts for verbs that are called without options.
  semaphore(const client& c, std::string_view name, std::uint32_t permits,
            const acquire_options& defaults = {})
      : acquirable(c, name, {false, checked(permits)}, defaults, sizeof defaults) {}
  semaphore(semaphore&&) noexcept = default;
  semaphore& operator=(semaphore&&) noexcept = default;

  static constexpr std::uint32_t permits_max = 1'000'000;
  std::uint32_t permits() const noexcept;

 private:
  static std::uint32_t checked(std::uint32_t permits);
};

}  // namespace v0
}  // namespace holdfast
