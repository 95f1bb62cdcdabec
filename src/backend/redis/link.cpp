#include "backend/redis/link.hpp"

#include <system_error>

#include "backend/redis/claim.hpp"
#include "backend/redis/link_answers.hpp"
#include "backend/redis/transport/pipeline.hpp"
#include "base/fail.hpp"

namespace holdfast::redis {

using core::event_queue;
using core::failure;

link::link(core::environment& e, settings s)
    : env_(e),
      settings_(std::move(s)),
      client_(core::random_u64(e)),
      commands_(*this, settings_, role::commands, client_),
      messages_(*this, settings_, role::messages, client_),
      renewals_(*this, settings_, role::renewals, client_),
      raise_answer_(std::make_unique<raise_answer>(*this)),
      time_answer_(std::make_unique<time_answer>(*this)),
      probe_answer_(std::make_unique<time_answer>(*this)),
      memory_answer_(std::make_unique<memory_answer>(*this)),
      reach_(settings_.text),
      alarm_(e.make_alarm(*this, "holdfast-redis")) {
  renewal_user_.home = this;
  loop_ = e.make_loop(*this, core::driven_by::callers, "holdfast-io");
  if (!loop_)
    core::fail(errc::unsupported, "open", "this environment has no network", {}, settings_.text);
}

link::~link() {
  {
    const std::lock_guard guard(mutex_);
    ending_ = true;  // what comes from here on finds no loop
  }
  alarm_.reset();  // the last that may use the loops
  renewal_loop_.reset();
  loop_.reset();
  const std::lock_guard guard(mutex_);
  ledger_.drop_all();
  cables_.clear();
}

void link::open_first(std::stop_token stop) {
  patience p;
  p.until = core::saturating_add(env_.now(), settings_.rules.op_timeout);
  {
    const std::lock_guard guard(mutex_);
    patience_ = &p;
    commands_.open(env_.now());
  }
  if (!loop_->driver()) {  // this thread is not to block
    const std::lock_guard guard(mutex_);
    patience_ = nullptr;
    return;
  }
  {
    const std::stop_callback on_stop(std::move(stop), [&] { stop_waiting(p); });
    wait(p);
  }
  if (p.why.code) throw lock_error(p.why.code, {"open", {}, settings_.text, p.why.text, {}});
}

void link::stop_waiting(patience& p) {
  const std::lock_guard guard(mutex_);
  if (patience_ != &p) return;  // answered already
  p.why = {errc::canceled, "it was stopped"};
  patience_ = nullptr;
  p.parker.signal();
}

void link::settle(time_point until) {
  patience p;
  p.until = until;
  p.for_the_end = true;
  {
    const std::lock_guard guard(mutex_);
    if (is_settled() || !loop_->driver()) return;
    patience_ = &p;
    // The time to close is short: neither a back-off nor a pause after a refusal is waited for.
    const time_point now = env_.now();
    commands_.hurry(now);
    if (commands_.ready()) ledger_.resend(now);
  }
  flush();
  wait(p);
}

void link::wait(patience& p) {
  {
    const std::lock_guard guard(mutex_);
    ++waiting_;
    if (!wakes_by(p.until) && patience_ == &p) {
      p.why = {errc::unavailable, "no thread can be started to end the wait in time: raise the "
                                  "limit of processes (ulimit -u)"};
      patience_ = nullptr;
      p.parker.signal();
    }
  }
  loop_->driver()->run_until_signalled(p.parker);
  const std::lock_guard guard(mutex_);
  --waiting_;
}

void link::answer_patience(time_point now) {
  if (!patience_) return;
  const failure& last = commands_.last_failure();
  patience& p = *patience_;
  if (p.for_the_end) {
    const bool mine = waiting_ == 1;  // the one who waits for this is counted too
    if (!(mine && ledger_.empty()) && now < p.until) return;
  } else if (!commands_.ready() || raising_) {
    const bool failed = commands_.is_down() && last.code;
    if (!(failed && !commands_.will_pass()) && now < p.until) return;
    p.why = failed ? last : commands_.too_late("op-timeout");
  }
  patience_ = nullptr;
  p.parker.signal();
}

// A greeting and a withdrawal have nobody who blocks for their answer.
void link::see_to_driving() {
  if (ending_) return;
  const bool awaits = commands_.awaits() || messages_.awaits();
  if (awaits == awaits_.load(std::memory_order_relaxed)) return;
  awaits_.store(awaits, std::memory_order_relaxed);
  if (awaits) loop_->attend();
}

void link::collected(bool at_once) noexcept { loop_->request_flush(at_once); }

void link::forked() noexcept {
  forked_.store(true, std::memory_order_relaxed);
  loop_->forked();
  if (renewal_loop_) renewal_loop_->forked();
}

std::shared_ptr<wire> link::connect(line& x, failure& why) {
  if (x.what() == role::renewals && !renewal_loop_) {
    try {
      renewal_loop_ = env_.make_loop(renewal_user_, core::driven_by::thread, "holdfast-hold");
    } catch (const std::system_error& failed) {
      why = core::shortage_of(failed);
      return nullptr;
    }
  }
  auto made = std::make_shared<cable>(*this, x);
  cables_.push_back(made);
  core::event_loop& over = x.what() == role::renewals ? *renewal_loop_ : *loop_;
  made->stream = over.connect(settings_.where, settings_.tls ? &*settings_.tls : nullptr, *made);
  over.attend();
  return made;
}

void link::cable::on_open() {
  home.happen(*this, [this](time_point, event_queue&) { of.opened(); });
}

void link::cable::on_bytes(std::span<const std::byte> bytes) {
  home.happen(*this, [&](time_point now, event_queue& events) { of.received(bytes, now, events); });
}

void link::cable::on_closed(failure why) {
  link& l = home;
  std::shared_ptr<cable> last;  // ends after the lock is let go
  event_queue events;
  reachability::lines lines;
  {
    const time_point now = l.env_.now();
    const std::lock_guard guard(l.mutex_);
    last = taken_from(l.cables_, this);
    if (!last) return;
    if (l.ending_) return;
    if (of.current().get() == this) of.closed(std::move(why), now, events);
    l.answer_patience(now);
    l.see_to_driving();
    lines = l.reach_.take_lines();
  }
  write_log(lines);
  events.dispatch();
}

template <class Event>
void link::happen(const cable& c, Event event) {
  event_queue events;
  reachability::lines lines;
  const time_point now = env_.now();
  {
    const std::lock_guard guard(mutex_);
    if (ending_) return;
    if (c.of.current().get() == &c) event(now, events);
    answer_patience(now);
    see_to_driving();
    if (reach_.has_lines()) lines = reach_.take_lines();
  }
  write_log(lines);
  events.dispatch();
}

// One thread at a time writes to a line; it takes along what others add meanwhile.
void link::write(line& x, std::unique_lock<std::mutex>& lock) noexcept {
  if (x.writing) return;
  x.writing = true;
  for (;;) {
    if (&x == &commands_ && has_collected()) encode();
    if (!x.may_write() || x.out().empty()) break;
    x.spare.clear();
    x.spare.swap(x.out());
    const std::shared_ptr<wire> over = x.current();
    lock.unlock();
    over->stream->write(std::as_bytes(std::span(x.spare)));
    lock.lock();
  }
  x.writing = false;
}

void link::flush() noexcept {
  if (is_forked()) return;
  std::unique_lock lock(mutex_);
  write(commands_, lock);
  write(messages_, lock);
}

}  // namespace holdfast::redis
