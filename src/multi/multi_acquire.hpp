// Acquires several locks for one caller, all or none of them.
#pragma once
#include <atomic>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cohort/checked_request.hpp"
#include "cohort/waiter.hpp"

namespace holdfast::inline v0::detail {

// The mutexes of client::acquire_all(). Throws lock_error: bad_name; bad_option when a name is
// missing or repeated.
class named_locks {
 public:
  named_locks(const client&, const lock_names&);
  std::span<exclusive_lockable* const> all() const noexcept { return all_; }

 private:
  std::deque<mutex> locks_;
  std::vector<exclusive_lockable*> all_;
};

// Never blocks. Its user calls advance(), and again after each step_answered(), until advance()
// returns true. The object must live until then, or until the step in progress is answered; its
// destructor releases the turns that take() has not taken.
//
//   step        | what begins                             | when it is answered
//   ------------+-----------------------------------------+--------------------------------------
//   all_at_once | one attempt for all locks, as one lock  | all granted: done; else in_turn,
//               | group, where the store supports that    | unless a fault will not go away
//   in_turn     | an acquire of the next lock, in the     | granted: the next lock; refused: all
//               | order of (name, backend), whatever the  | are released, done
//               | order given                             |
//
// Since all callers wait in one order, two of them never wait for each other. When a lock was lost
// while the others were awaited, all are released and acquired again, at most twice.
class multi_acquire {
 public:
  // Each is acquired exclusively, with its options; the caller owns their notes.
  using asked = std::pair<local_lock*, acquire_options>;
  multi_acquire(std::span<const asked> in_any_order, wait_bound);
  multi_acquire(const multi_acquire&) = delete;

  // Begins the next step: step_answered() follows, perhaps from inside. True: done instead.
  bool advance();
  void withdraw() noexcept;  // by any thread: ends the wait. A grant that came first counts
  // The index of the lock that is awaited next.
  seam::connection& connection() noexcept { return in_order_[next_].home.connection(); }
  base::caller_driver* driver() const noexcept { return in_order_[next_].home.driver(); }

  // When it is done:
  std::vector<turn*> take();  // in the order given; empty when it failed
  std::size_t size() const noexcept { return in_order_.size(); }
  const base::failure& why() const noexcept { return why_; }
  local_lock& at() const noexcept { return *at_; }  // the lock to which why() refers

 protected:
  ~multi_acquire();
  void own_notes();  // copies the notes: the caller's may be destroyed
  // Between steps: the turn already granted of the lock at that place of the order given, or null.
  turn* had(std::size_t place) const noexcept;
  // The thread that blocks for the next step; null: none.
  virtual base::follower* thread() noexcept { return nullptr; }
  // On any thread, perhaps from inside advance(), which accesses nothing afterwards. advance() must
  // not be called from inside.
  virtual void step_answered() noexcept = 0;

 private:
  enum class step : unsigned char { none, all_at_once, in_turn };
  struct member_request final : cohort::waiter {
    member_request(multi_acquire& o, local_lock& h, std::size_t p) noexcept
        : of(o), home(h), place(p) {}
    void complete() noexcept override { of.on_answer(granted != nullptr); }

    multi_acquire& of;
    local_lock& home;
    checked_request wants;
    std::string own_note;
    const std::size_t place;  // in the order given
    bool is_begun = false;    // in the current step
  };

  static std::vector<std::size_t> order_of(std::span<const asked>);
  bool is_of_this_process() const noexcept;
  void forget_all() noexcept;
  bool can_lock_all() const;
  void begin_step();
  void begin(member_request&, seam::lock_group);
  wait_bound what_is_left(base::time_point now) const noexcept;
  void on_answer(bool granted) noexcept;
  void one_less() noexcept;
  void end_step() noexcept;
  void end(member_request&) noexcept;
  void start_over();
  bool all_held() const noexcept;
  void release_all() noexcept;
  void refuse(base::failure, local_lock&) noexcept;

  const wait_bound bound_;
  base::time_point until_ = base::never;
  std::deque<member_request> in_order_;
  std::size_t next_ = 0;  // the number of turns granted
  step now_ = step::none;
  int rounds_ = 0;
  std::atomic<std::uint32_t> unanswered_{0};  // answers awaited, plus one while a step begins
  std::atomic<bool> is_in_vain_{false};       // a request of this step was refused
  std::atomic<bool> is_withdrawn_{false};
  base::failure why_;
  local_lock* at_ = nullptr;
};

}  // namespace holdfast::inline v0::detail
