// The base of every lockable type. Not for users to name.
#pragma once
#include <holdfast/detail/fwd.hpp>
#include <holdfast/detail/verbs.hpp>
#include <holdfast/lease.hpp>
#include <holdfast/options.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <system_error>

namespace holdfast {
inline namespace HOLDFAST_API v0 {
namespace detail {

struct lockable_traits {
  lock_kind kind = lock_kind::mutex;
  bool recursive = false;
  std::uint32_t permits = 0;  // the total of a semaphore; 0: another kind of lock
};

class lockable_base {
 public:
  lockable_base(const lockable_base&) = delete;
  lockable_base& operator=(const lockable_base&) = delete;
  std::string_view name() const noexcept;

 protected:
  friend class async_operation;
  friend class multi_access;
  friend class holdfast::election;
  // `size` is sizeof(acquire_options) as the caller knows it, so that members can be added.
  lockable_base(const client&, std::string_view name, lockable_traits,
                const acquire_options& defaults, std::size_t size);
  lockable_base(lockable_base&&) noexcept;
  lockable_base& operator=(lockable_base&&) noexcept;
  // Terminates the program when locked; for std::mutex that is undefined behaviour.
  ~lockable_base();

  lease acquire_impl(lock_mode, acquire_call) const;
  lease reacquire_impl(const lease& mine, std::error_code*) const;
  lease downgrade_impl(lease&& exclusive, std::error_code*) const;
  bool lock_within(wait_bound);
  void unlock_current() noexcept;
  bool lock_shared_within(wait_bound);
  void unlock_shared_of_this_thread() noexcept;
  const lease& current_share() const;
  bool downgrade_current(std::error_code*);
  const lease& current_lease() const noexcept;
  std::uint32_t permits_in_all() const noexcept;

 private:
  turn* turn_of(const lease& mine, std::string_view operation, std::error_code*) const;
  std::unique_ptr<lockable_state> state_;
};

}  // namespace detail
}  // namespace v0
}  // namespace holdfast
