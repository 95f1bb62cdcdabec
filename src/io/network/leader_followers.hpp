// "Whoever waits, drives": one loop of events, many blocked callers, one of them runs it.
#pragma once
#include <atomic>
#include <cstdint>
#include <mutex>

#include "base/follower.hpp"
#include "base/network.hpp"
#include "base/short_lock.hpp"

namespace holdfast::io {

// What the holder of the baton runs.
class engine {
 public:
  // Waits for events, up to `most`, and tells them. Returns soon after an interrupt(), also after
  // one that came before.
  virtual void run_once(core::duration most) noexcept = 0;
  virtual void interrupt() noexcept = 0;  // from any thread

 protected:
  ~engine() = default;
};

// Who drives when no caller does.
class background_thread {
 public:
  virtual void wake() noexcept = 0;    // something is expected and the last caller has left
  virtual void attend() noexcept = 0;  // something is expected and perhaps nobody waits for it

 protected:
  ~background_thread() = default;
};

// The baton is held by one thread at a time: the leader, which runs the engine until it has its own
// answer and then promotes a follower, or the stand-in, which any caller relieves. Only threads
// that await the store lead. Callers that wait for other threads of their client sleep, each on a
// word of its own, and are not listed here; what comes unasked meanwhile is the stand-in's to read.
// Nobody holds the baton when nothing is expected.
//
// All is safe from any thread; the user guards what it collects with a lock. What is collected is
// written before a holder sleeps, or by the caller itself when the holder sleeps already. Where one
// thread runs at a time (`one_cpu`) a holder who has woken others yields to them first, so that
// what they ask next goes into the same write.
class leader_followers final : public core::caller_driver, private core::loop_waker {
 public:
  leader_followers(engine&, core::loop_user&, bool one_cpu) noexcept;
  leader_followers(const leader_followers&) = delete;
  leader_followers& operator=(const leader_followers&) = delete;
  ~leader_followers();

  void run_until_signalled(core::parker&) override;
  void sleep_until_signalled(core::follower&) override;
  void enlist(core::follower&) noexcept override;
  // Makes a follower lead, and wakes it, when nobody leads and something is expected: to be called
  // when that may have come to be so. False when there is none.
  bool promote() noexcept;
  void attend() noexcept override;
  void set_background(background_thread* r) noexcept { reserve_ = r; }  // before and after all else

  // Something was collected: writes it, unless a holder is awake, who will before it sleeps.
  void write_now() noexcept;
  // Something was collected that may wait for a moment. True for the first since the last
  // write_collected(), which is to come soon.
  bool note_collected() noexcept;
  bool has_collected() const noexcept { return collected_.load(std::memory_order_seq_cst); }
  void write_collected() noexcept;
  void awake() noexcept { sleeps_.store(false, std::memory_order_relaxed); }  // said by the engine

  // For the reserve. Drives until a caller comes, `enough` is set (and the engine interrupted), or
  // nothing is expected any more. Does nothing when another holds the baton or nothing is expected.
  // Writes what is collected after a nap at most; when nothing has been for some turns it sleeps
  // without end, and the next to collect something interrupts it.
  void drive_in_background(const std::atomic<bool>& enough, core::duration nap);
  bool is_held() const noexcept { return holder_.load(std::memory_order_seq_cst) != nobody; }
  bool needs_driver() const noexcept { return !is_held() && user_.has_pending_replies(); }
  std::uint64_t taken_by_callers() const noexcept { return taken_.load(std::memory_order_relaxed); }

 private:
  using lock = std::lock_guard<core::short_lock>;
  enum who : int { nobody, caller, replacement };

  void wake() noexcept override { engine_.interrupt(); }
  const core::loop_waker* as_bell() const noexcept { return this; }
  bool enter(core::follower&) noexcept;
  bool leave(core::follower&) noexcept;
  void make_leader(core::follower&) noexcept;
  void unlink(core::follower&) noexcept;
  void drive(core::parker&) noexcept;
  void turn(core::duration most) noexcept;
  void step_down() noexcept;
  core::wake_target berth_of(const core::follower&) const noexcept;
  bool nobody_will_write() const noexcept;

  engine& engine_;
  core::loop_user& user_;
  background_thread* reserve_ = nullptr;
  const bool one_cpu_;
  const unsigned first_word_;
  core::short_lock mutex_;           // guards the list, and the changes of holder_
  core::follower* first_ = nullptr;  // threads that await the store and do not lead, in order
  core::follower* last_ = nullptr;
  std::uint64_t free_bits_ = ~std::uint64_t{0};  // of the futex words
  std::atomic<unsigned> followers_{0};
  std::atomic<int> holder_{nobody};
  std::atomic<bool> relieved_{false};    // the stand-in is to leave
  std::atomic<bool> sleeps_{false};      // the holder writes nothing more before it has slept
  std::atomic<bool> counted_on_{false};  // somebody leaves its write to the holder
  std::atomic<bool> collected_{false};
  std::atomic<bool> watches_{false};  // the stand-in sees by itself what is collected
  bool woke_others_ = false;          // the holder's, and the next one's
  std::atomic<std::uint64_t> taken_{0};
};

}  // namespace holdfast::io
