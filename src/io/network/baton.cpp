#include "io/network/baton.hpp"

#include <sched.h>

#include <bit>
#include <utility>

namespace holdfast::io {
namespace {

// The words on which sleeping callers are woken together, each for 32 of them. Those of one client
// use two; whoever shares a bed with another is now and then woken for nothing.
constexpr unsigned rooms = 32, beds_of_room = 32, beds_of_baton = 64;
std::atomic<int> room[rooms];
std::atomic<unsigned> next_room{0};

// Where others can run at the same time they are not kept waiting for long.
constexpr unsigned together_on_one_cpu = 64, together = 32;

// Turns of a stand-in after the last one in which something had been collected.
constexpr unsigned watchful_turns = 8;

}  // namespace

struct baton::guest {  // a caller who sleeps; on its stack
  core::parker& parker;
  guest* before = nullptr;
  guest* after = nullptr;
  bool listed = false;
  bool appointed = false;  // holds the baton
  unsigned bed = 0;
};

baton::baton(engine& e, core::loop_user& u, bool one_cpu) noexcept
    : engine_(e), user_(u), one_cpu_(one_cpu), first_room_(next_room.fetch_add(2) % rooms) {}

core::berth baton::berth_of(const guest& g) const noexcept {
  return {&room[(first_room_ + g.bed / beds_of_room) % rooms], 1u << g.bed % beds_of_room};
}

void baton::run_until_signalled(core::parker& p) {
  if (p.signalled()) return;
  guest g{p};
  if (enter(g)) return drive(p);
  write_now();
  appoint();  // what it waits for may have come to be expected while it entered
  p.park(berth_of(g));
  if (leave(g)) drive(p);
}

void baton::attend() noexcept {
  write_now();
  if (reserve_) reserve_->attend();
}

bool baton::enter(guest& g) noexcept {
  const bool expected = user_.expects();
  bool relieves = false;
  {
    const lock l(mutex_);
    const int holder = holder_.load(std::memory_order_relaxed);
    if (holder == nobody && expected && g.parker.appoint(*this)) {
      holder_.store(caller, std::memory_order_seq_cst);
      taken_.fetch_add(1, std::memory_order_relaxed);
      return true;
    }
    g.before = std::exchange(last_, &g);
    (g.before ? g.before->after : first_) = &g;
    g.listed = true;
    g.bed = static_cast<unsigned>(std::countr_one(beds_)) % beds_of_baton;
    beds_ |= std::uint64_t{1} << g.bed;
    guests_.fetch_add(1, std::memory_order_acq_rel);
    if (holder == replacement && expected) relieves = !relieved_.exchange(true);
  }
  if (relieves) engine_.interrupt();
  return false;
}

bool baton::leave(guest& g) noexcept {
  const lock l(mutex_);
  if (g.listed) unlink(g);
  beds_ &= ~(std::uint64_t{1} << g.bed);
  return g.appointed;
}

void baton::unlink(guest& g) noexcept {
  (g.before ? g.before->after : first_) = g.after;
  (g.after ? g.after->before : last_) = g.before;
  g.listed = false;
  guests_.fetch_sub(1, std::memory_order_relaxed);
}

bool baton::appoint() noexcept {
  // Added to, not loaded: a guest who is missed here comes later and sees what is expected.
  if (guests_.fetch_add(0, std::memory_order_acq_rel) == 0 || is_held() || !user_.expects())
    return false;
  core::berth heir;
  bool found = false;
  {
    const lock l(mutex_);
    if (holder_.load(std::memory_order_relaxed) != nobody) return true;
    while (guest* const g = first_) {
      unlink(*g);
      if (!g->parker.appoint(*this, &heir)) continue;  // it has its answer
      g->appointed = true;
      found = true;
      holder_.store(caller, std::memory_order_seq_cst);
      taken_.fetch_add(1, std::memory_order_relaxed);
      break;
    }
  }
  if (heir.word) heir.wake();
  return found;
}

bool baton::nobody_will_write() const noexcept {
  return !is_held() || sleeps_.load(std::memory_order_seq_cst);
}

void baton::write_now() noexcept {
  if (!nobody_will_write()) {
    counted_on_.store(true, std::memory_order_seq_cst);
    if (!nobody_will_write()) return;
  }
  user_.flush();
}

bool baton::note_collected() noexcept {
  if (collected_.load(std::memory_order_relaxed)) return false;
  if (collected_.exchange(true, std::memory_order_seq_cst)) return false;
  const bool unseen = !watches_.load(std::memory_order_seq_cst);
  if (unseen && holder_.load(std::memory_order_seq_cst) == replacement) engine_.interrupt();
  return true;
}

void baton::write_collected() noexcept {
  if (collected_.exchange(false, std::memory_order_seq_cst)) write_now();
}

// One round of whoever holds the baton.
void baton::turn(core::duration most) noexcept {
  if (one_cpu_ && woke_others_) ::sched_yield();
  sleeps_.store(true, std::memory_order_seq_cst);
  if (counted_on_.load(std::memory_order_relaxed)) counted_on_.store(false);
  user_.flush();
  core::waking_together wakes(one_cpu_ ? together_on_one_cpu : together);
  engine_.run_once(most);
  awake();
  woke_others_ = wakes.woken() > 0;
}

void baton::drive(core::parker& p) noexcept {
  const core::bell* const outer = std::exchange(core::parker::driven_here(), as_bell());
  while (p.drives()) turn(core::duration::max());
  core::parker::driven_here() = outer;
  put_down();
  p.park();  // who rang the bell is about to signal
}

void baton::put_down() noexcept {
  {
    const lock l(mutex_);
    holder_.store(nobody, std::memory_order_seq_cst);
    relieved_.store(false);
  }
  if (appoint()) return;  // the heir writes
  if (counted_on_.load(std::memory_order_seq_cst) && counted_on_.exchange(false)) user_.flush();
  if (reserve_ && needs_driver()) reserve_->rouse();
}

void baton::stand_in(const std::atomic<bool>& enough, core::duration nap) {
  if (!needs_driver()) return;
  {
    const lock l(mutex_);
    if (holder_.load(std::memory_order_relaxed) != nobody) return;
    holder_.store(replacement, std::memory_order_seq_cst);
  }
  const core::bell* const outer = std::exchange(core::parker::driven_here(), as_bell());
  for (unsigned quiet = 0; !enough && !relieved_;) {
    const bool wrote = collected_.exchange(false, std::memory_order_seq_cst);
    quiet = wrote ? 0 : quiet + 1;
    const bool watches = quiet <= watchful_turns;
    if (quiet > 1 && !user_.expects()) break;
    watches_.store(watches, std::memory_order_seq_cst);
    if (!watches && has_collected()) continue;
    turn(watches ? nap : core::duration::max());
  }
  watches_.store(false, std::memory_order_relaxed);
  core::parker::driven_here() = outer;
  put_down();
}

}  // namespace holdfast::io
