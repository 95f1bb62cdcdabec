// A lease: the proof of holding a lock.
#pragma once
#include <holdfast/clock.hpp>
#include <holdfast/detail/fwd.hpp>
#include <holdfast/fwd.hpp>

#include <chrono>
#include <cstdint>
#include <stop_token>
#include <string>
#include <string_view>
#include <system_error>

namespace holdfast {
inline namespace HOLDFAST_API v0 {

// The proof that this program holds a lock: with a fencing token, a deadline and a loss signal.
// Move-only, one pointer wide. Ownership is in this object, not in a thread: a lease may be moved
// to another thread and released there.
//
//   state    | held() | doubt_token() | loss_token() | left by
//   ---------+--------+------------+--------+-----------------------------------------------------
//   free     | false  | never      | never  | a grant -> held
//   held     | true   | -          | -      | no renewal confirmed by deadline - notice -> doubtful
//            |        |            |        | release, unlock, ~lease -> released
//   doubtful | true   | requested  | -      | a renewal confirmed -> held (doubt_token() stays)
//            |        |            |        | the deadline, or the store reports the loss -> lost
//            |        |            |        | release, unlock, ~lease -> released
//   lost     | false  | requested  | req.   | unlock, ~lease -> released; release reports the loss
//   released | false  | -          | -      | the object is empty, as after default construction
//
// The deadline is counted from before the request was sent, with a margin for the drift of clocks,
// so held() is false before the store grants the lock to another client. The notice is a tenth of
// the ttl plus ?grace= (default 0), at most half of the ttl. With zookeeper: a lease becomes
// doubtful when a third of the session's timeout has passed without proof of the session; with the
// strategies for-update and named of mysql:, when two thirds of the connection's idle timeout have
// passed without a reply from the server. With redis: it also becomes doubtful when the URL leads
// to another server than before, until that server confirms the lease.
//
// The destructor and the assignment release the lock as unlock() does and do not block. A
// moved-from lease is empty.
//
// Between a check and the use of the resource only the fencing token helps: pass token() to the
// resource and let it refuse smaller ones (Martin Kleppmann, "How to do distributed locking", 2016,
// https://martin.kleppmann.com/2016/02/08/how-to-do-distributed-locking.html).
//
// Thread safety: any number of threads may call const members at once; a call of any other member
// must not overlap another call on the same object.
class [[nodiscard]] lease {
 public:
  lease() noexcept = default;
  lease(lease&& other) noexcept : turn_(other.turn_) { other.turn_ = nullptr; }
  lease& operator=(lease&& other) noexcept;  // first unlock()s the lease it had
  ~lease() { unlock(); }

  // True from the grant to the release, even after a loss: test held() before each use.
  explicit operator bool() const noexcept { return turn_ != nullptr; }

  // Whether the lock is held now. Reads the clock, so the answer is exact at each call, even
  // after a SIGSTOP or a suspend.
  bool held() const noexcept;
  // Whether the lease is lost or may soon be: it is not held(), or no renewal was confirmed in
  // time. Unlike doubt_token(), which stays requested, this is false again once a renewal is
  // confirmed. Reads the clock as held() does. True when empty, and in the child of a fork().
  bool in_doubt() const;
  // Does nothing while held(); else throws the reason. The text of errc::lost says why the lease
  // was lost (it expired, max_hold ended, another owner has the lock, or the store has no owner)
  // and names the last connection failure.
  //
  // errc::lost      the lease expired or was taken away
  // errc::not_held  the lease is empty
  // errc::forked    the lease was made before fork(), and this is the child
  // errc::closed    the client was closed
  void check() const;
  // The same as a code; {} while held().
  std::error_code status() const noexcept;

  // The name of the lock; "" when empty. Valid until the lease is released.
  std::string_view name() const noexcept;
  // The mode of the lease; a downgrade changes it from exclusive to shared. exclusive when empty or
  // in the child of a fork().
  lock_mode mode() const noexcept;
  // The number of a semaphore's permits; 1 for every other lock; 0 when empty or in the child of a
  // fork().
  std::uint32_t permits() const noexcept;

  // The fencing token, 1 to 2^63-1: it grows with each grant of this lock. 0 when empty, and where
  // the layout has none (features().tokens is false).
  std::int64_t token() const noexcept;
  // The id of this holder at the store, as client::list() shows it: for guards that compare
  // owners, and for client::break_lock(). "" where a store has no ids, when empty, and in the child
  // of a fork().
  std::string owner() const;
  // When held() becomes false unless a renewal is confirmed first. time_point::max() when the lock
  // is bound to the process and does not expire; time_point::min() when empty.
  lease_clock::time_point expires() const noexcept;
  // The time until expires(); 0 when the lease is not held; duration::max() when it does not
  // expire.
  lease_clock::duration remaining() const noexcept;

  // Returns a stop_token on which stop is requested when the lease may soon be lost, because no
  // renewal was confirmed in time. Stop stays requested when a later renewal is confirmed. It is
  // requested already when the lease is empty, and in the child of a fork(). Callbacks run on one
  // thread of the library that does nothing else: a slow callback delays later ones, but never a
  // renewal.
  std::stop_token doubt_token() const;
  // Returns a stop_token on which stop is requested when the lease is lost, no later than the next
  // time that this process is scheduled after expires(). Otherwise as doubt_token().
  std::stop_token loss_token() const;
  // Returns a stop_token on which stop is requested when this holder should release the lock:
  // because another program (Curator's Revoker) requests it, or client::break_lock(), which takes
  // it away a moment later. The lease is held until it is released all the same. The client grants
  // the lock to none of its own waiters before it has queued again. Only the layouts of zookeeper:
  // that Curator or kazoo shares have such requests; elsewhere, when the lease is empty, and in the
  // child of a fork(), stop is never requested. Callbacks run as those of doubt_token().
  std::stop_token revocation_token() const;

  // On the file backend the locked file descriptor: a process that inherits it keeps the lock until
  // the last copy is closed. -1 on every other backend, when empty, and in the child of a fork().
  int native_handle() const noexcept;

  // Makes the lease run for `ttl` from now. When that is earlier than before, expires() is earlier
  // at once, but the store keeps the lock until the old end if this process is killed. With
  // file:, whose locks do not expire, this succeeds at once; where locks end with a session or a
  // connection (zookeeper:, and mysql: with strategy for-update or named), it is errc::unsupported.
  //
  // ttl  from 100 ms to 366 days; it replaces the ttl of the acquire for later renewals too
  // errc::bad_option       ttl is out of range, or ?clock-skew= takes half of it
  // errc::lost             the lease was lost before or during the call
  // errc::not_held         the lease is empty
  // errc::forked           the lease was made before fork(), and this is the child
  // errc::closed           the client was closed
  // errc::outcome_unknown  no reply within the op-timeout
  // errc::unsupported      locks end with a session or a connection; or locks do not expire on
  //                        this backend, and its URL has ?strict=1
  // Blocks until the store replies, at most the client's op-timeout (default 5 s).
  void extend(std::chrono::milliseconds ttl);
  void extend(std::chrono::milliseconds ttl, std::error_code&);

  // Releases the lock and reports whether it was held until now. The lease is empty afterwards in
  // every case.
  //
  // errc::lost             the lease was lost before the release took effect
  // errc::not_held         the lease was empty already
  // errc::forked           the lease was made before fork(), and this is the child: the parent
  //                        keeps the lock
  // errc::closed           the client was closed, which has released the lock
  // errc::outcome_unknown  no reply within the op-timeout; the client repeats the release in the
  //                        background, and without success the lock expires with its ttl
  // Blocks until the store replies, at most the client's op-timeout (default 5 s). Does not block
  // when this client keeps the grant: for its other readers, for leases of reacquire(), or for its
  // next waiter.
  void release();
  void release(std::error_code&) noexcept;

  // Releases the lock without waiting for the reply. Does nothing when empty, and in the child of a
  // fork(). A failure is logged and counted by the client's metrics.
  void unlock() noexcept;

  // The same without blocking, for Boost.Asio; include holdfast/asio.hpp, which documents them.
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
  friend class zookeeper_guard;
  explicit lease(detail::turn* turn) noexcept : turn_(turn) {}
  detail::turn* turn_ = nullptr;
};

}  // namespace v0
}  // namespace holdfast
