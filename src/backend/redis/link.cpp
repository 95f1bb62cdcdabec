#include "backend/redis/link.hpp"

#include <stop_token>
#include <utility>

#include "backend/redis/claim.hpp"
#include "backend/redis/link_answers.hpp"

namespace holdfast::redis {

using core::failure;

link::link(core::environment& e, settings s)
    : settings_(std::move(s)),
      group_(e, settings_.text),
      client_(core::random_u64(e)),
      commands_(*this, settings_, role::commands, client_),
      messages_(*this, settings_, role::messages, client_),
      renewals_(*this, settings_, role::renewals, client_),
      raise_answer_(std::make_unique<raise_answer>(*this)),
      time_answer_(std::make_unique<time_answer>(*this)),
      probe_answer_(std::make_unique<time_answer>(*this)),
      memory_answer_(std::make_unique<memory_answer>(*this)),
      reach_(settings_.text, group_.log()) {
  group_.add(*this);
}

link::~link() {
  group_.stop();
  const std::lock_guard guard(mutex());
  ledger_.drop_all();
}

void link::open_first(std::stop_token stop) {
  blocking_wait w;
  w.until = core::saturating_add(env().now(), settings_.rules.op_timeout);
  {
    const std::lock_guard guard(mutex());
    group_.begin(w);
    commands_.open(env().now());
  }
  if (!driver()) return group_.abandon(w);  // this thread is not to block
  group_.wait(w, std::move(stop));
  if (w.why.code) throw lock_error(w.why.code, {"open", {}, settings_.text, w.why.text, {}});
}

void link::settle(time_point until) {
  blocking_wait w;
  w.until = until;
  w.for_the_end = true;
  {
    const std::lock_guard guard(mutex());
    if ((!group_.has_waiting() && is_settled()) || !driver()) return;
    group_.begin(w);
    // The time to close is short: neither a back-off nor a pause after a refusal is waited for.
    const time_point now = env().now();
    commands_.hurry(now);
    if (commands_.ready()) ledger_.resend(now);
  }
  flush();
  group_.wait(w);
}

failure link::why_not_open(bool is_overdue) const {
  const failure& last = commands_.last_failure();
  const bool failed = !commands_.ready() && commands_.is_down() && last.code;
  if (failed && (is_overdue || !commands_.will_pass())) return last;
  return is_overdue ? commands_.too_late("op-timeout") : failure();
}

std::shared_ptr<wire> link::connect(line& x, failure& why) {
  return group_.connect(x, settings_.where, settings_.tls ? &*settings_.tls : nullptr, why);
}

// One thread at a time writes to a line; it takes along what others add meanwhile.
void link::write(line& x, std::unique_lock<std::mutex>& lock) noexcept {
  if (x.writing) return;
  x.writing = true;
  for (;;) {
    if (&x == &commands_ && commands_.ready() && collected_.has_unsent()) collected_.write(x);
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

void link::flush(std::unique_lock<std::mutex>& lock) noexcept {
  write(commands_, lock);
  write(messages_, lock);
}

}  // namespace holdfast::redis
