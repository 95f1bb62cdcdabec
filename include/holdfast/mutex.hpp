// The distributed lock in the shape of std::mutex.
#pragma once
#include <holdfast/lockable.hpp>

namespace holdfast {
inline namespace HOLDFAST_API v0 {

// One lock by name. Share ONE object between threads, as with std::mutex: all members may be called
// from any thread. lock() by the thread that holds this object already throws
// errc::would_self_deadlock. Move it only while it is unlocked and nobody waits.
class mutex final : public exclusive_lockable {
 public:
  // Throws bad_name and, for defaults that no acquire of it can have, bad_option or unsupported.
  mutex(const client& c, std::string_view name, const acquire_options& defaults = {})
      : exclusive_lockable(c, name, {}, defaults, sizeof defaults) {}
  mutex(mutex&&) noexcept = default;
  mutex& operator=(mutex&&) noexcept = default;
};

}  // namespace v0
}  // namespace holdfast
