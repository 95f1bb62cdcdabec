// The timed actions of a session.
#include <algorithm>

#include "backend/zookeeper/transport/session.hpp"
#include "base/mutant.hpp"

namespace holdfast::zookeeper {

using core::event_queue;
using core::mutant;
using core::planted;

namespace {

// A server may keep a reply back until something else happens (ZOOKEEPER-4537): a ping does.
constexpr std::chrono::milliseconds reply_overdue{200};
constexpr std::chrono::milliseconds attach_min{100};
constexpr std::chrono::seconds first_attach_min{1};
constexpr int renewal_part = 4;  // of the timeout: early enough to be tried twice within a third
constexpr int doubt_part = 3;

bool believes_a_lapse() noexcept {
  return planted(mutant::lapsed_session_believed) || planted(mutant::late_acknowledgement_counted);
}

}  // namespace

time_point session::renewal_due() const noexcept {
  if (renews_) return core::never;
  return std::max(deadline_.last_touch(), attach_sent_) + deadline_.timeout() / renewal_part;
}

time_point session::doubt_due() const noexcept {
  return deadline_.last_touch() + deadline_.timeout() / doubt_part;
}

duration session::silence_max() const noexcept {
  if (id_ == 0) return ensemble_.connect_timeout;
  return std::min(ensemble_.connect_timeout, deadline_.timeout() / doubt_part);
}

// A server that has thousands of requests to answer is not silent while it answers some.
time_point session::silent_since() const noexcept {
  return std::max(in_flight_.front().mark.sent, replied_at_);
}

// A session that has something to lose tries each server while it may still stand.
// Without one, a server that does not answer leaves time for the others.
duration session::attach_max() const noexcept {
  if (id_ == 0) {
    const duration each = ensemble_.connect_timeout / static_cast<int>(servers_.size());
    return std::min(ensemble_.connect_timeout, std::max<duration>(each, first_attach_min));
  }
  const duration share = servers_.size() == 1
                             ? deadline_.timeout() / doubt_part
                             : deadline_.timeout() / (2 * static_cast<int>(servers_.size()));
  return std::min(ensemble_.connect_timeout, std::max<duration>(share, attach_min));
}

void session::schedule(time_point now) {
  time_point due = core::never;
  const auto by = [&](time_point t) { due = std::min(due, std::max(t, now)); };
  switch (state_) {
    case state::idle:
    case state::ended: return;
    case state::waiting: by(retry_at_); break;
    case state::connecting:
    case state::attaching: by(began_ + attach_max()); break;
    default:
      if (in_flight_.empty()) break;
      by(silent_since() + silence_max());
      if (pings_ == 0 && state_ != state::retiring)
        by(in_flight_.front().mark.sent + reply_overdue);
  }
  if (state_ == state::attached && renewal_due() != core::never) by(renewal_due());
  if (id_ != 0 && state_ != state::closing) {
    if (!believes_a_lapse()) by(deadline_.deadline());
    if (!is_doubtful_) by(doubt_due());
  }
  if (due != core::never) owner_.wake_by(due);
}

void session::on_alarm(time_point now, event_queue& events) {
  if (state_ == state::idle || state_ == state::ended) return;
  const bool has_lapsed = check_lapse(now, events);
  if (!has_lapsed && id_ != 0 && now >= doubt_due()) note_doubt(events);
  if (state_ == state::waiting && now >= retry_at_) {
    connect(now);
  } else if ((state_ == state::connecting || state_ == state::attaching) &&
             now >= began_ + attach_max()) {
    const bool is_open = state_ == state::attaching;
    fail({errc::unavailable,
          is_open ? std::string(silent_server) : "no connection within the connect-timeout"},
         now, events);
  } else if (is_connected()) {
    check_silence(now, events);
  }
  if (state_ == state::attached) check_renewal(now);
  schedule(now);
}

void session::retry_now(time_point by) {
  if (state_ != state::waiting || by >= retry_at_) return;
  retry_at_ = by;
  owner_.wake_by(by);
}

void session::note_doubt(event_queue& events) {
  if (is_doubtful_) return;
  is_doubtful_ = true;
  owner_.on_doubtful(events);
}

// The server may still answer a session whose deadline has passed, and even execute its writes: it
// ends expired sessions one after the other.
bool session::check_lapse(time_point now, event_queue& events) {
  if (id_ == 0 || state_ == state::closing || believes_a_lapse()) return false;
  if (!deadline_.has_lapsed(now)) return false;
  retire({errc::timed_out, "the session was not confirmed in time"}, now, events);
  return true;
}

void session::check_silence(time_point now, event_queue& events) {
  if (in_flight_.empty()) return;
  const time_point sent = in_flight_.front().mark.sent;
  if (now >= silent_since() + silence_max())
    return fail({errc::unavailable, "the server does not answer"}, now, events);
  if (now >= sent + reply_overdue && pings_ == 0 && state_ != state::retiring) send_ping(now);
}

// At the leader a write renews; elsewhere only a new connection does. What is in flight is waited
// for, so that nothing is cut.
void session::check_renewal(time_point now) {
  if (now < renewal_due()) return;
  if (planted(mutant::deadline_by_any_reply) && pings_ == 0) return send_ping(now);
  if (deadline_.is_at_leader() || planted(mutant::write_at_follower_renews))
    return send_renewing_write(now);
  state_ = state::draining;
  finish_draining(now);
}

}  // namespace holdfast::zookeeper
