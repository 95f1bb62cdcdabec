// What is due: claims that wake up, samples of the server's clock, withdrawals.
#include "backend/redis/layouts/string/deferred.hpp"
#include "backend/redis/layouts/string/string_layout.hpp"

namespace holdfast::redis {

using core::event_queue;

void string_layout::on_tick(transport&, time_point now, event_queue& events) {
  end_overdue(now, events);
  end_waits(now, events);
  raise_if_due(now);
  wake_sleepers(now, events);
  keep_sample(now);
  if (renewals_.go_with_commands())
    over_->write_commands([&](request_writer& w) { renewals_.write(w, now); });
  over_->tick_by(orphans_.tick(now));
}

void string_layout::wake_sleepers(time_point now, event_queue& events) {
  while (core::heap_timer* const due = sleepers_.take_due(now))
    static_cast<claim*>(due)->on_wake(now, events);
  over_->tick_by(sleepers_.next());
}

// While claims wait, a lock that is handed over can be placed on our clock at once.
void string_layout::keep_sample(time_point now) {
  if (pushable_ == 0) return;
  over_->tick_by(now + sample_age_max());
  over_->want_sample(sample_age_max(), now);
}

}  // namespace holdfast::redis
