// One lock name in one client: the cohort, its mutex, and the thread that carries out its effects.
#pragma once
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>

#include <holdfast/lockable.hpp>

#include "base/short_lock.hpp"
#include "base/timer_queue.hpp"
#include "cohort/blocked.hpp"
#include "cohort/cohort.hpp"

namespace holdfast::inline v0::detail {

class client_impl;
struct checked_request;

// Lives in its client's table as long as it has users (lockables and turns), claims that are not
// idle, or a thread inside. While it has users it keeps the client alive.
//
// The thread that made them due runs verbs and completes calls, without the mutex; one thread at a
// time runs verbs, so that each claim gets them in the order in which they were decided.
//
//   flag                     | from                          | until
//   -------------------------+-------------------------------+-------------------------------------
//   is_running_verbs_        | a thread takes a claim's      | they have been run, or an inline
//                            | pending verbs                 | answer has taken over
//   is_retiring_             | the last thread leaves it     | client_impl::retire() finds it in
//                            | unused                        | use again
//   keeps_client_            | the first user                | the last user has left
//   needs_background_driver_ | a caller that does not block  | the background driver is notified
//                            | awaits the store              |
class local_lock final : private base::timer {
  using lock = std::unique_lock<base::short_lock>;

 public:
  // `permits`: size of a semaphore; 0: a lock. The rules outlive it.
  local_lock(client_impl&, const cohort::lock_rules&, std::string_view name, std::uint32_t permits);

  // The thread that holds the lock through lock(), of whichever lock object; {}: none. A lease has
  // no thread.
  std::atomic<std::thread::id> locker{};

  const std::string& name() const noexcept { return name_; }
  std::uint32_t permits() const noexcept { return permits_; }
  client_impl& client() noexcept { return client_; }
  const cohort::lock_rules& rules() const noexcept { return cohort_.rules(); }
  // The loop that callers drive while they wait for this lock; null: they just block.
  base::caller_driver* driver() const noexcept { return connection().driver(); }
  seam::connection& connection() const noexcept { return cohort_.connection(); }

  // Throws a lock_error that names the lock and its backend.
  [[noreturn]] void fail(std::string_view operation, base::failure) const;
  // The same, or sets `ec` where there is one.
  void fail_or_set(std::string_view operation, base::failure, std::error_code* ec) const;

  void add_user();  // the caller keeps the client alive meanwhile
  void drop_user() noexcept;

  // A turn (which counts as a user), or nullptr with the reason. Blocks within the bound.
  turn* acquire(const checked_request&, wait_bound, std::stop_token, base::failure& why);
  // The same without blocking: w.complete() follows, with the turn in `granted` or the reason in
  // `why`. Without a turn, the caller must call drop_user() for the user that was counted for it.
  void begin(cohort::waiter& w, wait_bound) noexcept;
  // Call it before w is destroyed; w may have been answered already.
  void withdraw(cohort::waiter& w) noexcept;
  void unlock(turn&) noexcept;            // ends the turn and waits for nothing
  base::failure release(turn&) noexcept;  // ends the turn and waits for the answer
  // The same without blocking: i.complete() follows; then the caller must call drop_user().
  void begin_release(turn&, cohort::confirmation& i) noexcept;
  // After begin_release(): waits for the answer. `lost`: the turn's status before the release.
  base::failure finish_release(cohort::blocked_confirmation&, std::error_code lost) noexcept;
  base::failure extend(turn&, base::duration ttl);
  void begin_extend(turn&, base::duration ttl, cohort::confirmation&);  // i.complete() follows
  void watch(turn&, cohort::loss_watch&) noexcept;                      // w.complete() follows
  void end_watch(cohort::loss_watch&) noexcept;  // it may have been answered already
  base::failure downgrade(turn&) noexcept;       // a writer's turn becomes a reader's
  std::stop_token token_of(turn&, std::stop_source turn::extra_fields::*);
  bool is_in_doubt(const turn&);
  int native_handle(turn&) noexcept;
  lock_mode mode_of(const turn&) noexcept;
  std::uint32_t permits_of(turn&) noexcept;
  std::string owner(turn&);
  // Why a turn was lost, and the trouble known of the store. Empty for a turn that was not lost.
  std::string why_lost(const turn&);
  void close() noexcept;
  // Another thread runs verbs, or this one's were left to it.
  bool has_verbs_left() noexcept;
  static bool is_inside_verb() noexcept;  // the calling thread is, of whichever lock

  // Changes the cohort and carries out the effects. Claim records apply their events by it.
  template <class Change>
  void apply(Change change, unsigned users_to_drop = 0) noexcept {
    lock l(mutex_);
    ++threads_inside_;
    change(cohort_);
    run_effects(l, users_to_drop);
  }
  void report_end(const cohort::claim_record&, const base::failure&) noexcept;

 private:
  friend class client_impl;
  bool pin() noexcept override;
  void fire(base::time_point now) override;

  void run_effects(lock&, unsigned users_to_drop) noexcept;
  void finish(lock&, unsigned users_to_drop, cohort::completion* answered) noexcept;
  bool deliver_effects(lock&, cohort::completion* answered, base::time_point arm) noexcept;
  void refuse_timed_waits() noexcept;
  void notify(cohort::cohort_effects::notices&) noexcept;
  void enlist() noexcept;
  struct inline_answer;
  bool run_pending(lock&, cohort::claim_record&, unsigned users_to_drop) noexcept;
  void take_inline_answer(unsigned& users_to_drop) noexcept;
  void run_verbs(lock&, cohort::claim_record&, unsigned verbs) noexcept;
  seam::claim& claim_of(cohort::claim_record&);
  seam::acquire_request request_of(const cohort::claim_record&) const noexcept;
  base::time_point take_arm() noexcept;
  void leave(turn&, cohort::confirmation*) noexcept;
  void record_wait(cohort::waiter&) noexcept;
  void poll(lock&, cohort::claim_record&, base::time_point now);
  bool is_unused() const noexcept {
    return users_ == 0 && threads_inside_ == 0 && !cohort_.is_busy();
  }

  client_impl& client_;
  const std::string name_;
  const std::uint32_t permits_;
  base::short_lock mutex_;                    // guards everything below
  unsigned users_ = 0;                        // lockables, leases and callers
  unsigned threads_inside_ : 28 = 0;          // with or without the mutex
  bool is_running_verbs_ : 1 = false;         // a thread is; others leave their verbs to it
  bool is_retiring_ : 1 = false;              // handed to client_impl::retire()
  bool keeps_client_ : 1 = false;             // by client_impl::keep(), while it has users
  bool needs_background_driver_ : 1 = false;  // for a caller that does not block
  cohort::cohort cohort_;
  base::time_point armed_at_ = base::never;  // of the timer
};

}  // namespace holdfast::inline v0::detail
