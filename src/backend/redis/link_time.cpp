// A link's side towards time: what is due, what is overdue, what is renewed.
#include <algorithm>
#include <utility>

#include "backend/redis/claim.hpp"
#include "backend/redis/link.hpp"
#include "backend/redis/link_answers.hpp"

namespace holdfast::redis {

using core::event_queue;

void link::sleep(claim& c, time_point wake) {
  sleepers_.set(c, wake);
  wake_by(wake);
}

void link::count(tally more, time_point now) {
  group_.count(more.waiting, more.listening);
  pushable_ += more.pushable;
  if (more.pushable > 0 && pushable_ == more.pushable) wake_by(now + sample_age_max());
}

duration link::sample_age_max() const noexcept { return window(duration::max()) / 2; }

void link::on_alarm(time_point now, event_queue& events) {
  commands_.on_alarm(now, events);
  messages_.on_alarm(now, events);
  renewals_.on_alarm(now, events);
  end_overdue(now, events);
  end_waits(now, events);
  raise_if_due(now);
  reach_.tick(claims_.has_ids(), now);
  wake_by(reach_.next_tick());
  wake_sleepers(now, events);
  keep_sample(now);
  if (renewals_go_with_commands()) encode_renewals(commands_, now);
  if (const time_point next = ledger_.tend(now); next != core::never) wake_by(next);
}

void link::wake_sleepers(time_point now, event_queue& events) {
  while (core::heap_timer* const due = sleepers_.take_due(now))
    static_cast<claim*>(due)->wake(now, events);
  wake_by(sleepers_.next());
}

// While claims wait, a lock that is handed over can be placed on our clock at once.
void link::keep_sample(time_point now) {
  if (pushable_ == 0) return;
  wake_by(now + sample_age_max());
  if (sampling_ || clock_.is_fresh(now, sample_age_max())) return;
  std::string bytes;
  command(bytes, 1) << "TIME";
  sampling_ = ask_special(*time_answer_, std::move(bytes), now);
  probe_messages(now);
}

// A dead connection for messages is found out by the question that it does not answer.
void link::probe_messages(time_point now) {
  if (!messages_.ready() || now - probed_ < settings_.rules.op_timeout / 4) return;
  probed_ = now;
  command(messages_.out(), 1) << "PING";
  messages_.expect(*probe_answer_, 1, now, attended::by_nobody);
}

}  // namespace holdfast::redis
