#include "io/network/leader_followers.hpp"

#include <sched.h>

#include <bit>
#include <utility>

#include "base/mutant.hpp"

namespace holdfast::io {
namespace {

// The futex words on which sleeping followers are woken together, each by a bit of its own. They
// live as long as the process, because a wake-up may come late. One client uses a word at a time.
constexpr unsigned words = 256, words_of_baton = 2, bits_of_word = 32;
std::atomic<int> futex_words[words];
std::atomic<bool> taken_words[words];

unsigned take_words() noexcept {
  for (unsigned i = 0; i < words; i += words_of_baton)
    if (!taken_words[i].exchange(true, std::memory_order_relaxed)) return i;
  return words;
}

// How many followers one system call wakes; fewer where they can run at once on another CPU.
constexpr unsigned together_on_one_cpu = 64, together = 32;

// How many rounds the background driver keeps checking by itself after the last collected request.
constexpr unsigned watchful_turns = 8;

}  // namespace

leader_followers::leader_followers(engine& e, core::loop_user& u, bool one_cpu) noexcept
    : engine_(e), user_(u), one_cpu_(one_cpu), first_word_(take_words()) {
  if (first_word_ == words) free_bits_ = 0;
}

leader_followers::~leader_followers() {
  if (first_word_ < words) taken_words[first_word_].store(false, std::memory_order_relaxed);
}

void leader_followers::run_until_signalled(core::parker& p) {
  if (p.signalled()) return;
  core::follower f(p);
  enlist(f);
  sleep_until_signalled(f);
}

void leader_followers::sleep_until_signalled(core::follower& f) {
  if (!f.parker.signalled()) {
    if (core::planted(core::mutant::local_waiter_leads)) enlist(f);
    if (!f.is_enlisted.load(std::memory_order_relaxed)) {
      if (has_collected()) write_collected();
      f.parker.park();
    } else if (enter(f)) {
      return drive(f.parker);
    } else {
      write_now();
      promote();  // a reply may be awaited since enter() checked
      f.parker.park(berth_of(f));
    }
  }
  if (!f.is_enlisted.load(std::memory_order_relaxed)) return;
  const bool leads = leave(f);
  if (leads && !core::planted(core::mutant::early_answer_keeps_leadership)) drive(f.parker);
}

void leader_followers::enlist(core::follower& f) noexcept {
  const lock l(mutex_);
  if (f.is_enlisted.exchange(true, std::memory_order_relaxed)) return;
  f.before = std::exchange(last_, &f);
  (f.before ? f.before->after : first_) = &f;
  f.is_listed = true;
  followers_.fetch_add(1, std::memory_order_acq_rel);
}

// The caller leads when nobody does. Otherwise it will sleep; if the background driver leads, that
// is interrupted, so that it steps down and promotes one of the listed followers.
bool leader_followers::enter(core::follower& f) noexcept {
  const bool expected = user_.has_pending_replies();
  bool relieves = false;
  {
    const lock l(mutex_);
    if (f.leads) return true;
    const int holder = holder_.load(std::memory_order_relaxed);
    if (holder == nobody && expected && f.parker.promote(*this)) {
      make_leader(f);
      return true;
    }
    f.bit = std::countr_zero(free_bits_);  // 64 when none is free: then it sleeps on its own word
    if (free_bits_) free_bits_ &= free_bits_ - 1;
    if (holder == replacement && expected) relieves = !relieved_.exchange(true);
  }
  if (relieves) engine_.interrupt();
  return false;
}

core::wake_target leader_followers::berth_of(const core::follower& f) const noexcept {
  if (f.bit >= static_cast<int>(words_of_baton * bits_of_word)) return {};
  const auto bit = static_cast<unsigned>(f.bit);
  return {&futex_words[first_word_ + bit / bits_of_word], 1u << bit % bits_of_word};
}

// Returns true when the follower was made the leader.
bool leader_followers::leave(core::follower& f) noexcept {
  const lock l(mutex_);
  if (f.is_listed) unlink(f);
  if (f.bit >= 0 && f.bit < 64) free_bits_ |= std::uint64_t{1} << f.bit;
  return f.leads;
}

void leader_followers::make_leader(core::follower& f) noexcept {
  if (f.is_listed) unlink(f);
  f.leads = true;
  holder_.store(caller, std::memory_order_seq_cst);
  taken_.fetch_add(1, std::memory_order_relaxed);
}

void leader_followers::unlink(core::follower& f) noexcept {
  (f.before ? f.before->after : first_) = f.after;
  (f.after ? f.after->before : last_) = f.before;
  f.is_listed = false;
  followers_.fetch_sub(1, std::memory_order_relaxed);
}

bool leader_followers::promote() noexcept {
  // A read-modify-write, not a load: a follower that is missed here enlists later and then sees
  // that a reply is awaited.
  if (followers_.fetch_add(0, std::memory_order_acq_rel) == 0 || is_held() ||
      !user_.has_pending_replies())
    return false;
  core::wake_target next;
  bool found = false;
  {
    const lock l(mutex_);
    if (holder_.load(std::memory_order_relaxed) != nobody) return true;
    while (core::follower* const f = first_) {
      unlink(*f);
      if (!f->parker.promote(*this, &next)) continue;  // it has its answer already
      make_leader(*f);
      found = true;
      break;
    }
  }
  if (next.word) next.wake();
  return found;
}

void leader_followers::attend() noexcept {
  write_now();
  if (reserve_) reserve_->attend();
}

bool leader_followers::nobody_will_write() const noexcept {
  return !is_held() || sleeps_.load(std::memory_order_seq_cst);
}

void leader_followers::write_now() noexcept {
  if (!nobody_will_write()) {
    counted_on_.store(true, std::memory_order_seq_cst);
    if (!nobody_will_write()) return;
  }
  user_.flush();
}

bool leader_followers::note_collected() noexcept {
  if (collected_.load(std::memory_order_relaxed)) return false;
  if (collected_.exchange(true, std::memory_order_seq_cst)) return false;
  const bool unseen = !watches_.load(std::memory_order_seq_cst);
  if (unseen && holder_.load(std::memory_order_seq_cst) == replacement) engine_.interrupt();
  return true;
}

void leader_followers::write_collected() noexcept {
  if (collected_.exchange(false, std::memory_order_seq_cst)) write_now();
}

// One round of the leader or of the background driver.
void leader_followers::turn(core::duration most) noexcept {
  if (one_cpu_ && woke_others_) ::sched_yield();
  sleeps_.store(true, std::memory_order_seq_cst);
  if (counted_on_.load(std::memory_order_relaxed)) counted_on_.store(false);
  user_.flush();
  core::wake_batch wakes(one_cpu_ ? together_on_one_cpu : together);
  engine_.run_once(most);
  awake();
  woke_others_ = wakes.woken() > 0;
}

void leader_followers::drive(core::parker& p) noexcept {
  const core::loop_waker* const outer = std::exchange(core::parker::driven_here(), as_bell());
  while (p.drives()) turn(core::duration::max());
  core::parker::driven_here() = outer;
  step_down();
  p.park();  // the thread that woke the loop is about to signal
}

void leader_followers::step_down() noexcept {
  {
    const lock l(mutex_);
    holder_.store(nobody, std::memory_order_seq_cst);
    relieved_.store(false);
  }
  if (core::planted(core::mutant::leadership_not_passed)) return;
  if (promote()) return;  // the next leader writes
  if (counted_on_.load(std::memory_order_seq_cst) && counted_on_.exchange(false)) user_.flush();
  if (reserve_ && needs_driver()) reserve_->wake();
}

void leader_followers::drive_in_background(const std::atomic<bool>& enough, core::duration nap) {
  if (!needs_driver()) return;
  {
    const lock l(mutex_);
    if (holder_.load(std::memory_order_relaxed) != nobody) return;
    holder_.store(replacement, std::memory_order_seq_cst);
  }
  const core::loop_waker* const outer = std::exchange(core::parker::driven_here(), as_bell());
  for (unsigned quiet = 0; !enough && !relieved_;) {
    const bool wrote = collected_.exchange(false, std::memory_order_seq_cst);
    quiet = wrote ? 0 : quiet + 1;
    const bool watches = quiet <= watchful_turns;
    if (quiet > 1 && !user_.has_pending_replies()) break;
    watches_.store(watches, std::memory_order_seq_cst);
    if (!watches && has_collected()) continue;
    turn(watches ? nap : core::duration::max());
  }
  watches_.store(false, std::memory_order_relaxed);
  core::parker::driven_here() = outer;
  step_down();
}

}  // namespace holdfast::io
