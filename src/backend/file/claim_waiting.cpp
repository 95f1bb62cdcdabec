// The wait of a claim: a separate thread blocks in the kernel.
#include <errno.h>
#include <sched.h>

#include <string>
#include <system_error>
#include <utility>

#include "backend/file/claim.hpp"
#include "backend/file/error_text.hpp"

namespace holdfast::file {
namespace {

// A claim that acquires in the same step as its own process' release yields this often to waiters,
// about 200 microseconds in total. Bounded, because a stopped process never takes the lock.
constexpr int yields_to_waiters_max = 256;

// A check must find waiters this often in a row before its result counts.
constexpr int looks_max = 16;

constexpr int ticks_in_a_second = 50;

// `error`: of timer_create(); 0 when no signal is left.
std::string why_no_timer(int error) {
  if (error == 0) return "every real-time signal is in use; leave one its default disposition";
  const std::string text = "timer_create: " + std::generic_category().message(error);
  if (error == EAGAIN) return text + "; raise the limit of pending signals (ulimit -i)";
  return text + "; permit this call in the sandbox (seccomp)";
}

}  // namespace

// False when the wait must end; otherwise interrupt() reaches this thread from here on.
bool file_claim::may_block(interrupter& thread) noexcept {
  const std::lock_guard guard(mutex_);
  blocked_ = stopping_ == stopping::no ? &thread : nullptr;
  return blocked_ != nullptr;
}

void file_claim::tick(interrupter& thread, bool yes) noexcept {
  const std::lock_guard guard(mutex_);
  if (stopping_ != stopping::no) return;  // interrupts continue until the wait ends
  if (yes) {
    thread.tick();
  } else {
    thread.calm();
  }
}

// The lock is free for a moment, and the waiter that the release woke has not taken it yet.
void file_claim::yield_to_waiters() {
  const std::int64_t ours = std::exchange(released_, 0);
  if (ours == 0) return;
  for (int i = 0; i < yields_to_waiters_max && file_.number_in_file() == ours; ++i) ::sched_yield();
}

event file_claim::wait(interrupter& thread) {
  if (!thread.ready()) {
    trouble_ = {errc::unavailable, "cannot wait for the lock: " + why_no_timer(thread.error())};
    return event::failed;
  }
  if (as_.how != lock_mode::exclusive) released_ = 0;
  switch (as_.how) {
    case lock_mode::shared: return wait_to_share(thread);
    case lock_mode::permit: return wait_for_permits(thread);
    case lock_mode::exclusive: break;
  }
  const event e = wait_alone(thread);
  withdraw();
  return e;
}

event file_claim::wait_alone(interrupter& thread) {
  while (may_block(thread)) {
    if (!announced_) {
      const auto done = file_.waiters().announce();
      announced_ = done == waiters_file::outcome::done;
      if (done == waiters_file::outcome::interrupted) continue;
      if (done == waiters_file::outcome::failed) {
        trouble_ = error_text("lock", file_.waiters().path(), errno);
        return event::failed;
      }
    }
    yield_to_waiters();
    if (is_another_kind()) return event::another;
    const auto a = file_.lock();
    if (a != lock_file::attempt::interrupted) return of(a);
  }
  return event::interrupted;
}

// Two claims that check at the same time take each other for a waiter: hence the repetition.
bool file_claim::others_come_first() {
  if (as_.how == lock_mode::permit) return !first_in_line_ && file_.bytes().has_announced();
  for (int i = 0; i < looks_max; ++i) {
    if (!file_.waiters().others_wait()) return false;
    ::sched_yield();
  }
  return true;
}

// Waiters for the exclusive lock go first: until one of them has had the lock, or none waits, or,
// when the lock is free and none takes it, for one second (a stopped process must not block readers
// for ever). After that the kernel's order decides.
event file_claim::wait_to_share(interrupter& thread) {
  const std::int64_t number = file_.number_in_file();
  int free_ticks = 0;
  while (may_block(thread)) {
    announce_here();
    may_pass_ = file_.number_in_file() != number || free_ticks >= ticks_in_a_second;
    if (!may_pass_ && file_.waiters().others_wait()) {
      tick(thread, true);
      const auto none = file_.waiters().await_none();
      if (none == waiters_file::outcome::failed) {
        trouble_ = error_text("lock", file_.waiters().path(), errno);
        return event::failed;
      }
      free_ticks = file_.bytes().next_taken(0) ? 0 : free_ticks + 1;
      continue;
    }
    may_pass_ = true;
    tick(thread, false);
    const auto a = file_.share();
    if (a != lock_file::attempt::interrupted) return of(a);
  }
  return event::interrupted;
}

// Busy may mean a claim that holds the file exclusively for a moment, to remove or to inspect it.
event file_claim::try_for_permits() {
  const event e = try_lock();
  return e == event::busy ? try_unprobed() : e;
}

// One claim at a time, the first waiter, watches for free permits; the others wait to become it. It
// is overtaken when it takes none for a second although all are free: its process may be stopped.
event file_claim::wait_for_permits(interrupter& thread) {
  may_pass_ = false;
  int free_ticks = 0;
  while (may_block(thread)) {
    announce_here();
    if (first_in_line_) {
      notice_.wait();
      if (!may_block(thread)) break;
      if (const event e = try_for_permits(); e != event::busy) return e;
      continue;
    }
    tick(thread, true);
    const auto came = file_.bytes().await_line();
    if (came == holder_bytes::outcome::done) {
      tick(thread, false);
      first_in_line_ = true;
      notice_.listen(files_, file_.get());
      if (const event e = try_for_permits(); e != event::busy) return e;
      continue;
    }
    if (came != holder_bytes::outcome::interrupted) {
      trouble_ = error_text("lock a part of", file_.path(), errno);
      return event::failed;
    }
    free_ticks = file_.bytes().next_taken(0) ? 0 : free_ticks + 1;
    may_pass_ = free_ticks >= ticks_in_a_second;
    if (!may_pass_) continue;
    if (const event e = try_for_permits(); e != event::busy) return e;
  }
  return event::interrupted;
}

event file_claim::guard(interrupter* blocks) {
  for (;;) {
    if (blocks && !may_block(*blocks)) return event::interrupted;
    const auto a = file_.guard(blocks != nullptr);
    if (a == lock_file::attempt::interrupted) continue;
    if (a == lock_file::attempt::locked) return event::guarded;
    trouble_ = file_.trouble();
    return a == lock_file::attempt::busy ? event::busy : event::failed;
  }
}

void file_claim::announce_early() {
  if (as_.how == lock_mode::exclusive) {
    announced_ = file_.waiters().announce_at_once();
  } else if (file_.is_open()) {
    announce_here();
  }
}

void file_claim::announce_here() noexcept {
  if (!announced_here_) announced_here_ = file_.bytes().announce();
}

void file_claim::withdraw() noexcept {
  if (std::exchange(announced_, false)) file_.waiters().withdraw();
  if (std::exchange(announced_here_, false)) file_.bytes().withdraw();
  if (!std::exchange(first_in_line_, false)) return;
  file_.bytes().leave_line();
  notice_.stop_listening();
}

// The locks on the file are gone with it.
void file_claim::forget_file() noexcept {
  announced_ = announced_here_ = first_in_line_ = false;
  notice_.stop_listening();
}

bool file_claim::others_wait() {
  return file_.waiters().others_wait() || (!place_.remote() && file_.bytes().has_announced());
}

}  // namespace holdfast::file
