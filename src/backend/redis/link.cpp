#include "backend/redis/link.hpp"

#include <stop_token>
#include <utility>

#include "backend/redis/claim.hpp"
#include "backend/redis/link_answers.hpp"

namespace holdfast::redis {

link::link(core::environment& e, settings s)
    : settings_(std::move(s)),
      group_(e, settings_.text),
      client_(core::random_u64(e)),
      over_(group_, settings_, *this, all_scripts()),
      raise_answer_(std::make_unique<raise_answer>(*this)) {
  const std::lock_guard guard(mutex());
  pushes_ = over_.subscribe(channel_of(client_), *this, {});
}

link::~link() {
  group_.stop();
  const std::lock_guard guard(mutex());
  orphans_.drop_all();
  pushes_.reset();
}

void link::open_first(std::stop_token stop) {
  blocking_wait w;
  w.until = core::saturating_add(env().now(), settings_.rules.op_timeout);
  {
    const std::lock_guard guard(mutex());
    group_.begin(w);
    over_.open(lane::commands, env().now());
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
    over_.hurry(lane::commands, now);
    if (over_.is_ready(lane::commands)) orphans_.resend_all(now);
  }
  flush();
  group_.wait(w);
}

void link::write_requests(transport&, lane what, request_writer& to) {
  if (what == lane::renewals) return write_renewals(to, env().now());
  if (collected_.has_unsent()) collected_.write(to);
}

}  // namespace holdfast::redis
