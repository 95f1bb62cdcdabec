#include "backend/file/claim.hpp"

#include <errno.h>
#include <sched.h>

#include <utility>

#include "backend/file/complaint.hpp"

namespace holdfast::file {
namespace {

// Above so many open files of a client, a lock's file is closed when the lock is free.
constexpr std::size_t idle_files_max = 256;

// How often a claim that asks with the release of its own process lets those that wait go first,
// about 200 microseconds in all: a process that is stopped does not come.
constexpr int ways_given_max = 256;

}  // namespace

file_claim::file_claim(folder& f, waiter_threads& threads, core::environment& env,
                       const identity& me, std::string_view name, core::claim_sink& sink)
    : name_(name),
      sink_(sink),
      env_(env),
      threads_(threads),
      me_(me),
      files_(f.files),
      file_(f, name_) {
  text_.describe(name_, me_.host, note_, me_.pid, me_.client);
}

void file_claim::start(const core::ask& how, bool behind) {
  if (how.note != note_) {
    note_ = how.note;
    text_.describe(name_, me_.host, note_, me_.pid, me_.client);
  }
  const recipe::wish wish{how.one_attempt, behind, file_.is_open()};
  const action next = carry_out(recipe_.acquire(wish), nullptr);
  if (next == action::wait) return enqueue();
  deliver(next);
}

void file_claim::enqueue() {
  {
    const std::lock_guard guard(mutex_);
    waiting_ = true;
    stopping_ = stopping::no;
  }
  if (threads_.post(*this)) return;
  {
    const std::lock_guard guard(mutex_);
    waiting_ = false;
  }
  trouble_ = {errc::unavailable, "no thread can be started to wait for the lock: raise the limit "
                                 "of processes (ulimit -u)"};
  deliver(carry_out(recipe_.on(event::failed), nullptr));
}

// Until an answer is due, or nothing can be done without blocking.
action file_claim::carry_out(action next, interrupter* blocks) {
  for (;;) {
    switch (next) {
      case action::open:
      case action::reopen:
        announced_ = false;
        if (file_.open()) {
          next = recipe_.on(event::opened);
        } else {
          trouble_ = file_.trouble();
          next = recipe_.on(event::failed);
        }
        break;
      case action::try_lock: next = recipe_.on(of(file_.try_lock())); break;
      case action::try_unprobed: next = recipe_.on(of(file_.try_unprobed())); break;
      case action::wait:
        if (!blocks) return next;
        next = recipe_.on(wait(*blocks));
        break;
      case action::look: next = look(); break;
      case action::write:
        text_.stamp(recipe_.number(), since_);
        if (file_.write(text_)) {
          next = recipe_.on(event::written);
        } else {
          trouble_ = file_.trouble();
          next = recipe_.on(event::failed);
        }
        break;
      case action::unlock:
        file_.unlock();
        next = recipe_.on(event::unlocked);
        break;
      case action::grant:
      case action::refuse:
      case action::end: return next;
    }
  }
}

event file_claim::of(lock_file::attempt a) {
  if (a == lock_file::attempt::locked) return event::locked;
  if (a == lock_file::attempt::busy) return event::busy;
  trouble_ = file_.trouble();
  return event::failed;
}

action file_claim::look() {
  since_ = env_.wall();
  if (const auto seen = file_.look(text_, name_, since_)) return recipe_.looked(*seen);
  trouble_ = file_.trouble();
  return recipe_.on(event::failed);
}

// The lock is free for a moment, and whoever was woken by the release is not there yet.
void file_claim::give_way() {
  const std::int64_t ours = std::exchange(released_, 0);
  if (ours == 0) return;
  for (int i = 0; i < ways_given_max && file_.number_in_file() == ours; ++i) ::sched_yield();
}

event file_claim::wait(interrupter& thread) {
  if (!thread.ready()) {
    trouble_ = {errc::unavailable,
                "cannot wait for the lock: every real-time signal is in use; leave one its "
                "default disposition, or raise the limit of pending signals (ulimit -i)"};
    return event::failed;
  }
  for (;;) {
    {
      const std::lock_guard guard(mutex_);
      blocked_ = stopping_ == stopping::no ? &thread : nullptr;
      if (!blocked_) break;
    }
    if (!announced_) {
      const auto done = file_.waiters().announce();
      announced_ = done == waiters_file::outcome::done;
      if (done == waiters_file::outcome::interrupted) continue;
      if (done == waiters_file::outcome::failed) {
        trouble_ = complaint("lock", file_.waiters().path(), errno);
        return event::failed;
      }
    }
    give_way();
    const auto a = file_.lock();
    if (a == lock_file::attempt::interrupted) continue;
    withdraw();
    return of(a);
  }
  withdraw();
  return event::interrupted;
}

void file_claim::withdraw() noexcept {
  if (std::exchange(announced_, false)) file_.waiters().withdraw();
}

void file_claim::block(interrupter& thread) {
  decided_ = carry_out(action::wait, &thread);
  const std::lock_guard guard(mutex_);
  waiting_ = false;
  blocked_ = nullptr;
  thread.calm();
}

void file_claim::cancel() { stop_waiting(stopping::cancelled); }

void file_claim::stop_waiting(stopping why) noexcept {
  const std::lock_guard guard(mutex_);
  if (!waiting_ || stopping_ != stopping::no) return;
  stopping_ = why;
  if (blocked_) blocked_->interrupt();
}

void file_claim::renew(core::duration, std::uint32_t ticket) { sink_.moved(core::never, ticket); }

void file_claim::release(const core::succession* next) {
  file_claim* const heir = next ? static_cast<file_claim*>(next->who) : nullptr;
  const core::ask how = next ? next->how : core::ask{};
  const std::int64_t number = recipe_.number();
  // Announced before anybody else can hold the lock: the next holder is to see it.
  if (heir && !how.one_attempt) heir->announced_ = heir->file_.waiters().announce_at_once();
  deliver(carry_out(recipe_.on(event::release), nullptr));
  // Whoever waits outside was told to wait for this release: taking the lock straight back would
  // keep it from them.
  if (!heir) return;
  heir->released_ = number;
  heir->start(how, true);
}

// Nothing of this claim may be touched after the sink was told: it may be gone.
void file_claim::deliver(action what) {
  withdraw();
  if (what == action::grant) return sink_.granted({.number = recipe_.number()});
  if (files_.open_count() > idle_files_max) {
    file_.close();
    file_.waiters().close();
  }
  if (what == action::refuse) return sink_.refused(refusal(recipe_.why(), file_.path(), trouble_));
  if (stopping_ == stopping::closed) return sink_.refused({errc::closed, "the client was closed"});
  sink_.ended({});
}

}  // namespace holdfast::file
