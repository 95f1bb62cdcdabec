// A lock of any kind behind the verbs that all kinds have, so that one behaviour is played with
// each of them.
#pragma once
#include <holdfast/holdfast.hpp>

#include <chrono>
#include <cstdint>
#include <stop_token>
#include <string>
#include <string_view>
#include <system_error>
#include <variant>

namespace contract {

// As what a lock is taken. A permit is one of one: a lock that nobody else may hold.
enum class kind : unsigned char { mutex, recursive, writer, reader, permit };

class any_lock {
 public:
  using options = holdfast::acquire_options;
  using milliseconds = std::chrono::milliseconds;

  any_lock(const holdfast::client&, std::string_view name, kind);
  any_lock(const holdfast::client&, std::string_view name, std::uint32_t wanted, std::uint32_t of);

  holdfast::lease acquire(const options& = {}, std::stop_token = {}) const;
  holdfast::lease acquire(const options&, std::stop_token, std::error_code&) const;
  holdfast::lease try_acquire(const options& = {}) const;
  holdfast::lease try_acquire(const options&, std::error_code&) const;
  holdfast::lease try_acquire_for(milliseconds, const options& = {}, std::stop_token = {}) const;
  holdfast::lease try_acquire_for(milliseconds, const options&, std::stop_token,
                                  std::error_code&) const;
  holdfast::lease try_acquire_until(std::chrono::steady_clock::time_point) const;

  // Lockable; of a reader the shared verbs. A semaphore has none.
  bool is_lockable() const noexcept { return !std::holds_alternative<holdfast::semaphore>(lock_); }
  void lock();
  bool try_lock();
  bool try_lock_for(milliseconds);
  void unlock() noexcept;
  const holdfast::lease& current() const;  // of a writer

 private:
  class reader {  // a shared_mutex whose verbs are the shared ones
   public:
    reader(const holdfast::client& c, std::string_view name) : of_(c, name) {}
    template <class... More>
    holdfast::lease acquire(More&&... more) const {
      return of_.acquire_shared(std::forward<More>(more)...);
    }
    template <class... More>
    holdfast::lease try_acquire(More&&... more) const {
      return of_.try_acquire_shared(std::forward<More>(more)...);
    }
    template <class... More>
    holdfast::lease try_acquire_for(More&&... more) const {
      return of_.try_acquire_shared_for(std::forward<More>(more)...);
    }
    template <class Time>
    holdfast::lease try_acquire_until(Time t) const {
      return of_.try_acquire_shared_until(t);
    }
    void lock() { of_.lock_shared(); }
    bool try_lock() { return of_.try_lock_shared(); }
    bool try_lock_for(milliseconds d) { return of_.try_lock_shared_for(d); }
    void unlock() noexcept { of_.unlock_shared(); }

   private:
    holdfast::shared_mutex of_;
  };
  using any = std::variant<holdfast::mutex, holdfast::recursive_mutex, holdfast::shared_mutex,
                           reader, holdfast::semaphore>;

  static any made(const holdfast::client&, std::string_view name, kind);
  options with_permits(options) const;

  any lock_;
  std::uint32_t permits_ = 1;
};

// "job" as `else_as`; else "KIND:job", or "2of5:job" for two of a semaphore's five permits.
any_lock lock_of(const holdfast::client&, std::string_view spec, kind else_as);
std::string_view word_of(kind);
kind kind_of(std::string_view word);

}  // namespace contract
