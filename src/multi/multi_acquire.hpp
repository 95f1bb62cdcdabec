// Several locks for one caller, all or none of them.
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

// The mutexes of client::acquire_all(). Throws lock_error: bad_name; bad_option unless each is
// named once.
class named_locks {
 public:
  named_locks(const client&, const lock_names&);
  std::span<exclusive_lockable* const> all() const noexcept { return all_; }

 private:
  std::deque<mutex> locks_;
  std::vector<exclusive_lockable*> all_;
};

// Blocks nowhere: who uses it calls advance() until that says that all is over, each time after
// step_answered(). It lives until then, or until the step that is begun is answered; what it has
// and nobody took goes with it.
//
//   step      | what is begun                          | when it is answered
//   ----------+----------------------------------------+------------------------------------------
//   together  | all are asked for in one attempt of    | all granted: over; none: in_turn, unless
//             | the store, where it can do that        | there is a fault that will not go away
//   in_turn   | the next one is waited for, in the     | granted: the one after it; refused: all
//             | order of (name, backend), whatever the | are given back, over
//             | order given                            |
//
// Since all wait in one order, two callers never wait for each other. When one was lost while the
// others were waited for, all are given back and asked for again, but not for ever.
class multi_acquire {
 public:
  // Each is asked for exclusively, as its options say; their notes are the caller's.
  using asked = std::pair<local_lock*, acquire_options>;
  multi_acquire(std::span<const asked> in_any_order, wait_bound);
  multi_acquire(const multi_acquire&) = delete;

  // Begins the next step: step_answered() follows, perhaps from inside. True: it is over instead.
  bool advance();
  void withdraw() noexcept;  // by any thread: waits no more. A grant that was faster counts
  core::backend& store() noexcept { return in_order_[next_].home.client().store(); }

  // When it is over:
  std::vector<turn*> take();  // in the order given; empty when there is a reason
  std::size_t size() const noexcept { return in_order_.size(); }
  const core::failure& why() const noexcept { return why_; }
  local_lock& at() const noexcept { return *at_; }  // which lock the reason is about

 protected:
  ~multi_acquire();
  void own_notes();  // the caller's may go
  // Between steps: what it has already of the one at that place of the order given, or null.
  turn* had(std::size_t place) const noexcept;
  // The thread that blocks for the next step; null: none does.
  virtual core::follower* thread() noexcept { return nullptr; }
  // On any thread, perhaps from inside advance(), which touches nothing any more then; advance() is
  // not to be called from inside.
  virtual void step_answered() noexcept = 0;

 private:
  enum class step : unsigned char { none, multi_access, in_turn };
  struct member_request final : core::waiter {
    member_request(multi_acquire& o, local_lock& h, std::size_t p) noexcept
        : of(o), home(h), place(p) {}
    void complete() noexcept override { of.on_answer(granted != nullptr); }

    multi_acquire& of;
    local_lock& home;
    checked_request wants;
    std::string own_note;
    const std::size_t place;  // in the order given
    bool is_begun = false;    // in this step
  };

  static std::vector<std::size_t> order_of(std::span<const asked>);
  bool is_of_this_process() const noexcept;
  void forget_all() noexcept;
  bool can_lock_all() const;
  void begin_step();
  void begin(member_request&, core::lock_group);
  void on_answer(bool granted) noexcept;
  void one_less() noexcept;
  void end_step() noexcept;
  void end(member_request&) noexcept;
  void start_over();
  bool all_held() const noexcept;
  void release_all() noexcept;
  void refuse(core::failure, local_lock&) noexcept;

  const wait_bound bound_;
  core::time_point until_ = core::never;
  std::deque<member_request> in_order_;
  std::size_t next_ = 0;  // so many of them are had
  step now_ = step::none;
  int rounds_ = 0;
  std::atomic<std::uint32_t> unanswered_{0};  // and one for who begins the step
  std::atomic<bool> is_in_vain_{false};       // the step: somebody was refused
  std::atomic<bool> is_withdrawn_{false};
  core::failure why_;
  local_lock* at_ = nullptr;
};

}  // namespace holdfast::inline v0::detail
