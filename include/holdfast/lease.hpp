// A lease: the proof of holding a lock.
#pragma once
#include <holdfast/clock.hpp>
#include <holdfast/fwd.hpp>

#include <chrono>
#include <cstdint>
#include <stop_token>
#include <string>
#include <string_view>
#include <system_error>

namespace holdfast {
inline namespace HOLDFAST_API v0 {

// Move-only, one pointer wide. Ownership is in this object, not in a thread: a lease may be moved
// to another thread and released there. One lease object is for one thread at a time, but for the
// const members, which any number of threads may call.
//
//   state    | held() | doubtful() | lost() | left by
//   ---------+--------+------------+--------+-----------------------------------------------------
//   free     | false  | never      | never  | a grant -> held
//   held     | true   | -          | -      | no renewal confirmed by deadline - notice -> doubtful
//            |        |            |        | release, unlock, ~lease -> released
//   doubtful | true   | requested  | -      | a renewal confirmed -> held (doubtful() stays)
//            |        |            |        | the deadline, or the store says so -> lost
//            |        |            |        | release, unlock, ~lease -> released
//   lost     | false  | requested  | req.   | unlock, ~lease -> released; release reports the loss
//   released | false  | -          | -      | the object is empty, as after default construction
//
// The deadline is counted from before the request was sent, with a margin for the drift of clocks,
// so held() is false before the store lets somebody else in. Between a check and the use of the
// resource only the fencing token helps: pass token() to the resource and let it refuse smaller
// ones.
class [[nodiscard]] lease {
 public:
  lease() noexcept = default;
  lease(lease&& other) noexcept : turn_(other.turn_) { other.turn_ = nullptr; }
  lease& operator=(lease&& other) noexcept;  // unlock()s what it had
  ~lease() { unlock(); }

  // Granted and not yet released. Says nothing about loss: that is held().
  explicit operator bool() const noexcept { return turn_ != nullptr; }

  // Reads the clock: exact at each call, also right after a SIGSTOP or a suspend.
  bool held() const noexcept;
  // Throws lock_error with errc::lost (or not_held when empty, forked in a child) unless held().
  // The text of lost says why: it ran out, max_hold has ended, somebody else has it, or the store
  // has no holder any more; and tells of the last connection that failed.
  void check() const;
  // {} while held, else why not: errc::lost, not_held, forked, closed.
  std::error_code status() const noexcept;

  // The lock that it holds, and as what: the mode turns from exclusive to shared with a downgrade;
  // permits are those of a semaphore, 1 for every other lock. Empty, or made before a fork():
  // exclusive and 0. The name is "" when empty, and valid until the lease is released.
  std::string_view name() const noexcept;
  lock_mode mode() const noexcept;
  std::uint32_t permits() const noexcept;

  // The fencing token, 1 .. 2^63-1: grows with each grant of this lock. 0 when empty.
  std::int64_t token() const noexcept;
  // Who holds the lock at the store, as client::inspect() shows it: for a guard that compares
  // owners, and for break_lock(). Empty where a store has no ids, and when the lease is.
  std::string owner() const;
  // When held() turns false unless a renewal comes first; time_point::max() when the lock is bound
  // to the process and has no deadline.
  lease_clock::time_point expires() const noexcept;

  // Requested when the lease may soon be lost: no renewal was confirmed in time. Callbacks run on
  // a thread of the library that is made for them; a slow one delays later ones, never a renewal.
  std::stop_token doubtful() const;
  // Requested when the lease is lost: at the latest one scheduling delay after expires() has passed
  // with the process running. Same thread as above.
  std::stop_token lost() const;

  // On the file backend the locked file descriptor: whoever inherits it keeps the lock until the
  // last copy is closed. -1 on every other backend, and when empty.
  int native_handle() const noexcept;

  // Makes the lease run for `ttl` from now; waits for the store's answer, at most the client's
  // op-timeout. Where locks do not run out (features().ttl is false) a held lease needs nothing and
  // this succeeds at once. Errors: lost, not_held, bad_option, outcome_unknown, unsupported (no ttl
  // on this backend, and ?strict=1).
  void extend(std::chrono::milliseconds ttl);
  void extend(std::chrono::milliseconds ttl, std::error_code&);

  // Gives the lock back, waits for the answer, at most the client's op-timeout, and reports it:
  // lost (it was not ours any more), not_held (empty), outcome_unknown (the client goes on trying
  // in the background). The lease is empty afterwards in every case.
  void release();
  void release(std::error_code&) noexcept;

  // Queues the release and waits for nothing; does nothing when empty.
  void unlock() noexcept;

  // The same without blocking, for Boost.Asio: see holdfast/asio.hpp, which these need.
  template <class... Token>
  auto async_extend(std::chrono::milliseconds ttl, Token&&... token);
  template <class... Token>
  auto async_wait_lost(Token&&... token) const;
  template <class... Token>
  auto async_release(Token&&... token);

 private:
  friend struct detail::lockable_state;
  friend class detail::lockable_base;
  friend class detail::async_operation;
  friend class detail::multi_access;
  explicit lease(detail::turn* turn) noexcept : turn_(turn) {}
  detail::turn* turn_ = nullptr;
};

}  // namespace v0
}  // namespace holdfast
