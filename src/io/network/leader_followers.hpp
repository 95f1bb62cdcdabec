// The leader/followers pattern: of the blocked callers of one event loop, one runs the loop.
#pragma once
#include <atomic>
#include <cstdint>
#include <mutex>

#include "base/caller_driver.hpp"
#include "base/network.hpp"
#include "base/short_lock.hpp"

namespace holdfast::io {

// The loop that the leader runs.
class engine {
 public:
  // Waits for events, at most for `limit`, and dispatches them. Returns soon after an interrupt(),
  // even after one that came before the call.
  virtual void run_once(base::duration limit) noexcept = 0;
  virtual void interrupt() noexcept = 0;  // from any thread
  // It has work of its own in progress, which must be driven.
  virtual bool is_busy() const noexcept { return false; }

 protected:
  ~engine() = default;
};

// Drives the loop when no caller does.
class background_thread {
 public:
  virtual void wake() noexcept = 0;    // a reply is awaited and the last caller has left
  virtual void attend() noexcept = 0;  // a reply is awaited, and perhaps no caller blocks for it

 protected:
  ~background_thread() = default;
};

// One thread at a time leads: a caller, which runs the engine until it has its own answer and then
// promotes a follower, or the background driver, which steps down for any caller. Only threads that
// await the store lead. Callers that wait for other threads of their client sleep, each on its own
// word, and are not listed here; the background driver reads what the store sends unasked
// meanwhile. Nobody leads when no reply is awaited.
//
// Everything is safe from any thread; the user guards its collected requests with a lock. Collected
// requests are written before the leader sleeps, or by the caller itself when the leader sleeps
// already. With `one_cpu`, a leader that has woken other threads yields to them first, so that
// their next requests go into the same write.
class leader_followers final : public base::caller_driver, private base::loop_waker {
 public:
  leader_followers(engine&, base::loop_user&, bool one_cpu) noexcept;
  leader_followers(const leader_followers&) = delete;
  leader_followers& operator=(const leader_followers&) = delete;
  ~leader_followers();

  void run_until_signalled(base::parker&) override;
  void sleep_until_signalled(base::follower&) override;
  void enlist(base::follower&) noexcept override;
  // Makes a follower the leader, and wakes it, when no thread leads and a reply is awaited. Call it
  // when that may have become true. False when there is no follower.
  bool promote() noexcept;
  void attend() noexcept override;
  // Called first, and with null last of all.
  void set_background(background_thread* r) noexcept { background_ = r; }

  // A request was collected: writes it, unless a leader is awake, which writes before it sleeps.
  void write_now() noexcept;
  // A request was collected that may be delayed. True for the first one since the last
  // write_collected(), which must be called soon.
  bool note_unflushed() noexcept;
  bool has_collected() const noexcept { return collected_.load(std::memory_order_seq_cst); }
  void write_collected() noexcept;
  // Called by the engine.
  void awake() noexcept { sleeps_.store(false, std::memory_order_relaxed); }

  // For the background thread. Drives until a caller arrives, `enough` is set (and the engine
  // interrupted), or no reply is awaited. Does nothing when another thread leads or no reply is
  // awaited. Writes collected requests after a nap at most; after some rounds without any it sleeps
  // without a limit, and the next thread that collects one interrupts it.
  // Without `is_watchful` it begins with the latter.
  void drive_in_background(const std::atomic<bool>& enough, base::duration nap, bool is_watchful);
  bool is_held() const noexcept { return leader_.load(std::memory_order_seq_cst) != nobody; }
  bool needs_driver() const noexcept { return !is_held() && awaits_something(); }
  std::uint64_t taken_by_callers() const noexcept { return taken_.load(std::memory_order_relaxed); }

 private:
  using lock = std::lock_guard<base::short_lock>;
  enum who : int { nobody, caller, background };

  void wake() noexcept override { engine_.interrupt(); }
  const base::loop_waker* as_waker() const noexcept { return this; }
  bool awaits_something() const noexcept {
    return engine_.is_busy() || user_.has_pending_replies();
  }
  bool enter(base::follower&) noexcept;
  bool leave(base::follower&) noexcept;
  void make_leader(base::follower&) noexcept;
  void unlink(base::follower&) noexcept;
  void drive(base::parker&) noexcept;
  void run_round(base::duration limit, const base::parker* leader = nullptr) noexcept;
  void step_down() noexcept;
  base::wake_target wake_target_of(const base::follower&) const noexcept;
  bool nobody_will_write() const noexcept;

  engine& engine_;
  base::loop_user& user_;
  background_thread* background_ = nullptr;
  const bool one_cpu_;
  const unsigned first_word_;
  base::short_lock mutex_;  // guards the list, and changes of leader_
  // Threads that await the store and do not lead, in order of arrival.
  base::follower* first_ = nullptr;
  base::follower* last_ = nullptr;
  std::uint64_t free_bits_ = ~std::uint64_t{0};  // unused bits of the futex words
  std::atomic<unsigned> followers_{0};
  std::atomic<int> leader_{nobody};
  std::atomic<bool> must_step_down_{false};  // the background driver must step down
  std::atomic<bool> sleeps_{false};          // the leader writes nothing more before it has slept
  std::atomic<bool> leader_must_write_{false};  // a thread leaves its write to the leader
  std::atomic<bool> collected_{false};          // requests that no thread has written yet
  std::atomic<bool> watches_{false};            // the background driver checks collected_ by itself
  bool woke_others_ = false;                    // used by the leader, and then by the next one
  std::atomic<std::uint64_t> taken_{0};
};

}  // namespace holdfast::io
