// A link's side towards time: what is due, what is overdue, what is renewed.
#include <algorithm>
#include <utility>

#include "backend/redis/claim.hpp"
#include "backend/redis/link.hpp"
#include "backend/redis/link_answers.hpp"

namespace holdfast::redis {

using core::event_queue;

void link::count(tally more, time_point now) {
  group_.count(more.waiting, more.listening);
  pushable_ += more.pushable;
  if (more.pushable > 0 && pushable_ == more.pushable) over_.tick_by(now + sample_age_max());
}

duration link::sample_age_max() const noexcept { return window(duration::max()) / 2; }

void link::on_tick(transport&, time_point now, event_queue& events) {
  end_overdue(now, events);
  end_waits(now, events);
  raise_if_due(now);
  wake_sleepers(now, events);
  keep_sample(now);
  if (renewals_go_with_commands())
    over_.write_commands([&](request_writer& w) { write_renewals(w, now); });
  tend_by(orphans_.tick(now));
}

void link::wake_sleepers(time_point now, event_queue& events) {
  while (core::heap_timer* const due = sleepers_.take_due(now))
    static_cast<claim*>(due)->on_wake(now, events);
  over_.tick_by(sleepers_.next());
}

// While claims wait, a lock that is handed over can be placed on our clock at once.
void link::keep_sample(time_point now) {
  if (pushable_ == 0) return;
  over_.tick_by(now + sample_age_max());
  over_.want_sample(sample_age_max(), now);
}

}  // namespace holdfast::redis
