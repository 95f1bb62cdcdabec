#include "backend/redis/transport/probe.hpp"

#include <utility>

namespace holdfast::redis {

using base::failure;

probe::probe(io::client_reactor& r, const endpoint& e, answer a, subscriptions& s)
    : side_connection_owner(r),
      endpoint_(e),
      answer_(std::move(a)),
      connection_(*this, e, lane::probe, s) {}

void probe::start(time_point now) {
  is_wanted_ = true;
  connection_.retry_now(now);
  connection_.open(now);
}

void probe::start_anew(time_point now, base::event_queue& events) {
  connection_.end({errc::unavailable, "the name now resolves to another server"}, now, events);
  start(now);
}

// It has answered, and that is all.
bool probe::accepts(connection& c, failure& why, time_point now, base::event_queue& events) {
  why = {errc::unavailable, "the connection was only a probe"};
  answer_(c.server(), now, events);
  return false;
}

void probe::on_down(connection&, const failure&, loss, time_point, base::event_queue&) {
  is_wanted_ = false;
}

std::shared_ptr<io::attached_stream> probe::connect(connection& c, failure& why) {
  return reactor_.connect(c, endpoint_.where, endpoint_.tls_or_none(), base::driven_by::callers,
                          why);
}

}  // namespace holdfast::redis
