// The library's side of multi_mutex and lease_set. Not for users to name.
#pragma once
#include <holdfast/detail/fwd.hpp>
#include <holdfast/error.hpp>
#include <holdfast/lockable.hpp>
#include <holdfast/multi_mutex.hpp>

#include <chrono>
#include <cstddef>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace holdfast {
inline namespace HOLDFAST_API v0 {
namespace detail {

class multi_access {
 public:
  static lease_set acquire_impl(std::span<exclusive_lockable* const>, acquire_call);
  // Releases all. `failed`, if given, gets the index of the first member that fails.
  static std::error_code release(std::vector<lease>&, std::size_t* failed = nullptr) noexcept;
  // The details of an error about each member, for use after its release.
  static std::vector<lock_error::details> details_of(std::string_view operation,
                                                     std::span<const lease>);
  static void extend(std::span<const lease>, std::chrono::milliseconds ttl, std::error_code*);
  static void refuse_none_or_twins(std::span<exclusive_lockable* const>);
  static std::vector<std::pair<local_lock*, acquire_options>> asked_of(
      std::span<exclusive_lockable* const>, const acquire_call&);
  static lease_set set_of(multi_acquire&);
  static std::vector<lease> members_of(lease_set&&) noexcept;
  static const std::vector<exclusive_lockable*>& locks_of(const multi_mutex&) noexcept;
};

}  // namespace detail
}  // namespace v0
}  // namespace holdfast
