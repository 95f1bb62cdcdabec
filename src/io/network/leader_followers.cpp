#include "io/network/leader_followers.hpp"

#include <sched.h>

#include <bit>
#include <utility>

#include "base/mutant.hpp"

namespace holdfast::io {
namespace {

// The futex words on which sleeping followers are woken together, each by a bit of its own. They
// live as long as the process, because a wake-up may come late. One client uses a word at a time.
constexpr unsigned words = 256, words_per_client = 2, bits_of_word = 32;
std::atomic<int> futex_words[words];
std::atomic<bool> taken_words[words];

unsigned take_words() noexcept {
  for (unsigned i = 0; i < words; i += words_per_client)
    if (!taken_words[i].exchange(true, std::memory_order_relaxed)) return i;
  return words;
}

// The number of followers that one system call wakes; fewer if another CPU can run them at once.
constexpr unsigned wakes_per_call_on_one_cpu = 64, wakes_per_call = 32;

// The rounds for which the background driver keeps checking after the last collected request.
constexpr unsigned watchful_turns = 8;

}  // namespace

leader_followers::leader_followers(engine& e, base::loop_user& u, bool one_cpu) noexcept
    : engine_(e), user_(u), one_cpu_(one_cpu), first_word_(take_words()) {
  if (first_word_ == words) free_bits_ = 0;
}

leader_followers::~leader_followers() {
  if (first_word_ < words) taken_words[first_word_].store(false, std::memory_order_relaxed);
}

void leader_followers::run_until_signalled(base::parker& p) {
  if (p.signalled()) return;
  base::follower f(p);
  enlist(f);
  sleep_until_signalled(f);
}

void leader_followers::sleep_until_signalled(base::follower& f) {
  if (!f.parker.signalled()) {
    if (!f.is_enlisted.load(std::memory_order_relaxed) &&
        !base::planted(base::mutant::local_waiter_leads)) {
      if (has_collected()) write_collected();
      f.parker.park();
    } else if (enter(f)) {
      return drive(f.parker);
    } else {
      write_now();
      promote();  // a reply may be awaited since enter() checked
      f.parker.park(wake_target_of(f));
    }
  }
  if (!f.is_enlisted.load(std::memory_order_relaxed)) return;
  const bool leads = leave(f);
  if (leads && !base::planted(base::mutant::early_answer_keeps_leadership)) drive(f.parker);
}

void leader_followers::enlist(base::follower& f) noexcept {
  const lock l(mutex_);
  if (f.is_enlisted.exchange(true, std::memory_order_relaxed)) return;
  f.before = std::exchange(last_, &f);
  (f.before ? f.before->after : first_) = &f;
  f.is_listed = true;
  followers_.fetch_add(1, std::memory_order_acq_rel);
}

// The caller leads when no thread does. Otherwise it will sleep; if the background driver leads,
// that is interrupted, so that it steps down and promotes one of the listed followers.
bool leader_followers::enter(base::follower& f) noexcept {
  const bool expected = awaits_something();
  bool steps_down = false;
  {
    const lock l(mutex_);
    if (f.leads) return true;
    const int leader = leader_.load(std::memory_order_relaxed);
    if (leader == nobody && expected && f.parker.promote(*this)) {
      make_leader(f);
      return true;
    }
    f.bit = std::countr_zero(free_bits_);  // 64 when none is free: then it sleeps on its own word
    if (free_bits_) free_bits_ &= free_bits_ - 1;
    if (leader == background && expected) steps_down = !must_step_down_.exchange(true);
  }
  if (steps_down) engine_.interrupt();
  return false;
}

base::wake_target leader_followers::wake_target_of(const base::follower& f) const noexcept {
  if (f.bit >= static_cast<int>(words_per_client * bits_of_word)) return {};
  const auto bit = static_cast<unsigned>(f.bit);
  return {&futex_words[first_word_ + bit / bits_of_word], 1u << bit % bits_of_word};
}

// Returns true when the follower was made the leader.
bool leader_followers::leave(base::follower& f) noexcept {
  const lock l(mutex_);
  if (f.is_listed) unlink(f);
  if (f.bit >= 0 && f.bit < 64) free_bits_ |= std::uint64_t{1} << f.bit;
  return f.leads;
}

void leader_followers::make_leader(base::follower& f) noexcept {
  if (f.is_listed) unlink(f);
  f.leads = true;
  leader_.store(caller, std::memory_order_seq_cst);
  taken_.fetch_add(1, std::memory_order_relaxed);
}

void leader_followers::unlink(base::follower& f) noexcept {
  (f.before ? f.before->after : first_) = f.after;
  (f.after ? f.after->before : last_) = f.before;
  f.is_listed = false;
  followers_.fetch_sub(1, std::memory_order_relaxed);
}

bool leader_followers::promote() noexcept {
  // A read-modify-write, not a load: a follower that is missed here enlists later and then sees
  // that a reply is awaited.
  if (followers_.fetch_add(0, std::memory_order_acq_rel) == 0 || is_held() || !awaits_something())
    return false;
  base::wake_target next;
  bool found = false;
  {
    const lock l(mutex_);
    if (leader_.load(std::memory_order_relaxed) != nobody) return true;
    while (base::follower* const f = first_) {
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
  if (background_) background_->attend();
}

bool leader_followers::nobody_will_write() const noexcept {
  return !is_held() || sleeps_.load(std::memory_order_seq_cst);
}

void leader_followers::write_now() noexcept {
  if (!nobody_will_write()) {
    leader_must_write_.store(true, std::memory_order_seq_cst);
    if (!nobody_will_write()) return;
  }
  user_.flush();
}

bool leader_followers::note_unflushed() noexcept {
  if (collected_.load(std::memory_order_relaxed)) return false;
  if (collected_.exchange(true, std::memory_order_seq_cst)) return false;
  const bool unseen = !watches_.load(std::memory_order_seq_cst);
  if (unseen && leader_.load(std::memory_order_seq_cst) == background) engine_.interrupt();
  return true;
}

void leader_followers::write_collected() noexcept {
  if (collected_.exchange(false, std::memory_order_seq_cst)) write_now();
}

// One round of the leader or of the background driver. A flush that calls a client library may have
// the leader's own answer: `leader` does not sleep then.
void leader_followers::run_round(base::duration limit, const base::parker* leader) noexcept {
  if (one_cpu_ && woke_others_) ::sched_yield();
  sleeps_.store(true, std::memory_order_seq_cst);
  if (leader_must_write_.load(std::memory_order_relaxed)) leader_must_write_.store(false);
  user_.flush();
  if (leader && !leader->drives()) return awake();
  base::wake_batch wakes(one_cpu_ ? wakes_per_call_on_one_cpu : wakes_per_call);
  engine_.run_once(limit);
  awake();
  woke_others_ = wakes.woken() > 0;
}

void leader_followers::drive(base::parker& p) noexcept {
  const base::loop_waker* const outer =
      std::exchange(base::parker::loop_of_this_thread(), as_waker());
  while (p.drives()) run_round(base::duration::max(), &p);
  base::parker::loop_of_this_thread() = outer;
  step_down();
  p.park();  // the thread that woke the loop is about to signal
}

void leader_followers::step_down() noexcept {
  {
    const lock l(mutex_);
    leader_.store(nobody, std::memory_order_seq_cst);
    must_step_down_.store(false);
  }
  if (base::planted(base::mutant::leadership_not_passed) || promote()) return;
  if (leader_must_write_.load(std::memory_order_seq_cst) && leader_must_write_.exchange(false))
    user_.flush();
  if (background_ && needs_driver()) background_->wake();
}

void leader_followers::drive_in_background(const std::atomic<bool>& enough, base::duration nap,
                                           bool is_watchful) {
  if (!needs_driver()) return;
  {
    const lock l(mutex_);
    if (leader_.load(std::memory_order_relaxed) != nobody) return;
    leader_.store(background, std::memory_order_seq_cst);
  }
  const base::loop_waker* const outer =
      std::exchange(base::parker::loop_of_this_thread(), as_waker());
  for (unsigned quiet = is_watchful ? 0 : watchful_turns; !enough && !must_step_down_;) {
    const bool wrote = collected_.exchange(false, std::memory_order_seq_cst);
    quiet = wrote ? 0 : quiet + 1;
    const bool watches = quiet <= watchful_turns;
    if (quiet > 1 && !awaits_something()) break;
    watches_.store(watches, std::memory_order_seq_cst);
    if (!watches && has_collected()) continue;
    run_round(watches ? nap : base::duration::max());
  }
  watches_.store(false, std::memory_order_relaxed);
  base::parker::loop_of_this_thread() = outer;
  step_down();
}

}  // namespace holdfast::io
