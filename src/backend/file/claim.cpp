#include "backend/file/claim.hpp"

#include <errno.h>
#include <sched.h>
#include <string>
#include <system_error>
#include <utility>

#include "backend/file/error_text.hpp"

namespace holdfast::file {

namespace {

// When a client has more open files than this, the file of a free lock is closed.
constexpr std::size_t idle_files_max = 256;

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

file_claim::file_claim(folder& f, waiter_threads& threads, base::environment& env,
                       const identity& me, std::string_view name, seam::claim_sink& sink)
    : name_(name),
      sink_(sink),
      env_(env),
      threads_(threads),
      me_(me),
      files_(f.files),
      place_(f.place),
      file_(f, name_),
      notice_(f.notices) {
  text_.describe(name_, me_.host, note_, me_.pid, me_.client);
}

file_claim::~file_claim() {
  if (openings_ > 0 && generation_ == base::fork_generation()) file_.discard(env_.wall());
}

// Sets what the claim's records say. False, with trouble_ set: the request is not possible.
bool file_claim::describe(const seam::acquire_request& request) {
  const bool counts = request.mode == lock_mode::permit;
  const kind as{request.mode, counts ? request.permits : 0, counts ? request.total_permits : 0};
  if (counts && (as.permits == 0 || as.permits > as.of || as.of > permits_max)) {
    trouble_ = {errc::bad_option, "request at least one permit, and at most the total"};
    return false;
  }
  if (request.mode != lock_mode::exclusive && place_.remote()) {
    trouble_ = {errc::unsupported, "a lock in " + place_.path() +
                                       " cannot be shared: on a network file system the kernel "
                                       "makes one lock of two; name a local directory"};
    return false;
  }
  if (request.note == note_ && as == as_) return true;
  note_ = request.note;
  as_ = as;
  text_.describe(name_, me_.host, note_, me_.pid, me_.client, as_);
  return true;
}

void file_claim::start(const seam::acquire_request& asked, bool behind) {
  if (!describe(asked)) return sink_.on_refused(trouble_);
  may_pass_ = false;
  const recipe::request request{asked.one_attempt, behind, file_.is_open(), as_};
  const action next = carry_out(recipe_.acquire(request), nullptr);
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

// Carries out actions until an answer is due, or until the next one would block.
action file_claim::carry_out(action next, interrupter* blocks) {
  for (;;) {
    switch (next) {
      case action::open:
      case action::reopen:
        forget_file();
        ++openings_;
        next = recipe_.on(of(file_.open(env_.wall()), event::opened));
        break;
      case action::try_lock: next = recipe_.on(try_lock()); break;
      case action::try_unprobed: next = recipe_.on(try_unprobed()); break;
      case action::wait:
        if (!blocks) return next;
        next = recipe_.on(wait(*blocks));
        break;
      case action::guard: next = recipe_.on(guard(blocks)); break;
      case action::look: next = look(); break;
      case action::claim_bytes: {
        const auto a = file_.claim_bytes(as_);
        next = recipe_.on(a == lock_file::attempt::busy
                              ? event::full
                              : of(a == lock_file::attempt::locked, event::claimed));
        break;
      }
      case action::write:
      case action::mark:
        text_.stamp(recipe_.number(), since_);
        next = recipe_.on(
            of(next == action::write ? file_.write(text_) : file_.mark(text_), event::written));
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
  return a == lock_file::attempt::busy ? event::busy
                                       : of(a == lock_file::attempt::locked, event::locked);
}

event file_claim::of(bool is_done, event done) {
  if (is_done) return done;
  trouble_ = file_.trouble();
  return event::failed;
}

event file_claim::try_lock() { return of(file_.try_lock(shares())); }

event file_claim::try_unprobed() {
  const event e = of(file_.try_unprobed(shares()));
  return e == event::busy && is_another_kind() ? event::another : e;
}

// Called for a lock that was found busy. For permits only an exclusive holder makes it busy, and
// its record says so a moment after it has the lock.
bool file_claim::is_another_kind() {
  if (as_.mode == lock_mode::permit) {
    trouble_ = another_kind({}, as_);
    return file_.was_exclusive();
  }
  if (as_.mode == lock_mode::shared) return false;
  const auto held = file_.shared_by_others();
  if (!held || held->of == as_.of) return false;
  trouble_ = another_kind(*held, as_);
  return true;
}

action file_claim::look() {
  since_ = env_.wall();
  auto seen = file_.look(text_, name_, since_);
  if (!seen) {
    trouble_ = file_.trouble();
    return recipe_.on(event::failed);
  }
  if (shares()) {
    seen->taken = file_.bytes().next_taken(0).count > 0;
    seen->others_first = !may_pass_ && others_come_first();
    trouble_ = another_kind(seen->as, as_);  // used only if the recipe finds that it is one
  }
  return recipe_.looked(*seen);
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

void file_claim::renew(base::duration, std::uint32_t ticket) {
  sink_.on_extended(base::never, ticket);
}

void file_claim::release(const seam::successor* next) {
  file_claim* const successor = next ? static_cast<file_claim*>(next->who) : nullptr;
  const seam::acquire_request request = next ? next->request : seam::acquire_request{};
  const std::int64_t number = recipe_.number();
  // Announced before anybody else can hold the lock, so that the next holder sees the waiter.
  if (successor && !request.one_attempt && successor->describe(request))
    successor->announce_early();
  deliver(carry_out(recipe_.on(event::release), nullptr));
  // Waiters outside were queued for this release: if this client took the lock straight back, they
  // would starve.
  if (!successor) return;
  successor->released_ = number;
  successor->start(request, true);
}

// A lock that was opened once may never be used again: its files are removed. One that is used
// repeatedly keeps them, which is cheaper.
void file_claim::close_file() noexcept {
  if (openings_ == 1) return file_.discard(env_.wall());
  file_.close();
  file_.waiters().close();
}

// The sink is called last, and nothing of this claim is accessed afterwards: it may be gone.
void file_claim::deliver(action doing) {
  withdraw();
  if (doing == action::grant) return sink_.on_granted({.number = recipe_.number()});
  if (files_.open_count() > idle_files_max) close_file();
  if (doing == action::refuse)
    return sink_.on_refused(refusal(recipe_.why(), file_.path(), trouble_));
  if (stopping_ == stopping::closed)
    return sink_.on_refused({errc::closed, "the client was closed"});
  sink_.on_ended({});
}

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
  if (shares()) released_ = 0;
  switch (as_.mode) {
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
    const auto a = file_.lock(false);
    if (a != lock_file::attempt::interrupted) return of(a);
  }
  return event::interrupted;
}

// Two claims that check at the same time take each other for a waiter: hence the repetition.
bool file_claim::others_come_first() {
  if (as_.mode == lock_mode::permit) return !first_in_queue_ && file_.bytes().has_announced();
  for (int i = 0; i < looks_max; ++i) {
    if (!file_.waiters().others_wait()) return false;
    ::sched_yield();
  }
  return true;
}

// Waiters for the exclusive lock go first: until one of them has had the lock, or none waits, or,
// when the lock is free and none takes it, for one second (a stopped process must not block readers
// forever). After that the kernel's order decides.
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
    const auto a = file_.lock(true);
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
    if (first_in_queue_) {
      notice_.wait();
      if (!may_block(thread)) break;
      if (const event e = try_for_permits(); e != event::busy) return e;
      continue;
    }
    tick(thread, true);
    const auto came = file_.bytes().await_queue();
    if (came == holder_bytes::outcome::done) {
      tick(thread, false);
      first_in_queue_ = true;
      notice_.listen(file_.get());
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
    const event e = of(a == lock_file::attempt::locked, event::guarded);
    return a == lock_file::attempt::busy ? event::busy : e;
  }
}

void file_claim::announce_early() {
  if (as_.mode == lock_mode::exclusive) {
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
  if (!std::exchange(first_in_queue_, false)) return;
  file_.bytes().leave_queue();
  notice_.stop_listening();
}

// The locks on the file are gone with it.
void file_claim::forget_file() noexcept {
  announced_ = announced_here_ = first_in_queue_ = false;
  notice_.stop_listening();
}

bool file_claim::others_wait() {
  return file_.waiters().others_wait() || (!place_.remote() && file_.bytes().has_announced());
}

}  // namespace holdfast::file
