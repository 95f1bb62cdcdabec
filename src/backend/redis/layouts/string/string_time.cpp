// Timed work: claims that wake up, samples of the server's clock, withdrawals.
#include "backend/redis/layouts/string/deferred.hpp"
#include "backend/redis/layouts/string/string_layout.hpp"

namespace holdfast::redis {

using core::event_queue;

void string_layout::on_tick(transport&, time_point now, event_queue& events) {
  end_overdue(now, events);
  end_waits(now, events);
  raise_if_due(now);
  over_->tick_by(claims_.wake_due(now, events));
  keep_sample(now);
  if (renewals_.go_with_commands())
    over_->write_commands([&](request_writer& w) { renewals_.write(w, now); });
  over_->tick_by(orphans_.tick(now));
}

// While claims wait, a lock that is handed over can be placed on our clock at once.
void string_layout::keep_sample(time_point now) {
  if (pushable_ == 0) return;
  over_->tick_by(now + sample_age_max());
  over_->want_sample(sample_age_max(), now);
}

}  // namespace holdfast::redis
