#include "backend/file/claim.hpp"

#include <utility>

#include "backend/file/error_text.hpp"

namespace holdfast::file {
namespace {

// When a client has more open files than this, the file of a free lock is closed.
constexpr std::size_t idle_files_max = 256;

}  // namespace

file_claim::file_claim(folder& f, waiter_threads& threads, core::environment& env,
                       const identity& me, std::string_view name, core::claim_sink& sink)
    : name_(name),
      sink_(sink),
      env_(env),
      threads_(threads),
      me_(me),
      files_(f.files),
      place_(f.place),
      file_(f, name_) {
  text_.describe(name_, me_.host, note_, me_.pid, me_.client);
}

file_claim::~file_claim() {
  if (openings_ > 0 && generation_ == core::fork_generation()) file_.discard(env_.wall());
}

// Sets what the claim's records say. False, with trouble_ set: the request is not possible.
bool file_claim::describe(const core::acquire_request& how) {
  const bool counts = how.mode == lock_mode::permit;
  const kind as{how.mode, counts ? how.permits : 0, counts ? how.total_permits : 0};
  if (counts && (as.permits == 0 || as.permits > as.of || as.of > permits_max)) {
    trouble_ = {errc::bad_option, "ask for one permit at least, and for no more than there are"};
    return false;
  }
  if (how.mode != lock_mode::exclusive && place_.remote()) {
    trouble_ = {errc::unsupported, "a lock in " + place_.path() +
                                       " cannot be shared: on a network file system the kernel "
                                       "makes one lock of two; name a local directory"};
    return false;
  }
  if (how.note == note_ && as == as_) return true;
  note_ = how.note;
  as_ = as;
  text_.describe(name_, me_.host, note_, me_.pid, me_.client, as_);
  return true;
}

void file_claim::start(const core::acquire_request& how, bool behind) {
  if (!describe(how)) return sink_.on_refused(trouble_);
  may_pass_ = false;
  const recipe::request request{how.one_attempt, behind, file_.is_open(), as_};
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
        if (file_.open(env_.wall())) {
          next = recipe_.on(event::opened);
        } else {
          trouble_ = file_.trouble();
          next = recipe_.on(event::failed);
        }
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
        next = recipe_.on(a == lock_file::attempt::locked ? event::claimed
                          : a == lock_file::attempt::busy ? event::full
                                                          : of(a));
        break;
      }
      case action::write:
      case action::mark:
        text_.stamp(recipe_.number(), since_);
        if (next == action::write ? file_.write(text_) : file_.mark(text_)) {
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

event file_claim::try_lock() {
  return of(as_.how == lock_mode::exclusive ? file_.try_lock() : file_.try_share());
}

event file_claim::try_unprobed() {
  const event e = of(file_.try_unprobed(as_.how != lock_mode::exclusive));
  return e == event::busy && is_another_kind() ? event::another : e;
}

// Called for a lock that was found busy. For permits only an exclusive holder makes it busy, and
// its record says so a moment after it has the lock.
bool file_claim::is_another_kind() {
  if (as_.how == lock_mode::permit) {
    trouble_ = another_kind({}, as_);
    return file_.was_exclusive();
  }
  if (as_.how == lock_mode::shared) return false;
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
  if (as_.how != lock_mode::exclusive) {
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

void file_claim::renew(core::duration, std::uint32_t ticket) {
  sink_.on_extended(core::never, ticket);
}

void file_claim::release(const core::successor* next) {
  file_claim* const successor = next ? static_cast<file_claim*>(next->who) : nullptr;
  const core::acquire_request how = next ? next->request : core::acquire_request{};
  const std::int64_t number = recipe_.number();
  // Announced before anybody else can hold the lock, so that the next holder sees the waiter.
  if (successor && !how.one_attempt && successor->describe(how)) successor->announce_early();
  deliver(carry_out(recipe_.on(event::release), nullptr));
  // Waiters outside were queued for this release: if this client took the lock straight back, they
  // would starve.
  if (!successor) return;
  successor->released_ = number;
  successor->start(how, true);
}

// A lock that was opened once may never be used again: its files are removed. One that is used
// repeatedly keeps them, which is cheaper.
void file_claim::close_file() noexcept {
  if (openings_ == 1) return file_.discard(env_.wall());
  file_.close();
  file_.waiters().close();
}

// The sink is called last, and nothing of this claim is accessed afterwards: it may be gone.
void file_claim::deliver(action what) {
  withdraw();
  if (what == action::grant) return sink_.on_granted({.number = recipe_.number()});
  if (files_.open_count() > idle_files_max) close_file();
  if (what == action::refuse)
    return sink_.on_refused(refusal(recipe_.why(), file_.path(), trouble_));
  if (stopping_ == stopping::closed)
    return sink_.on_refused({errc::closed, "the client was closed"});
  sink_.on_ended({});
}

}  // namespace holdfast::file
