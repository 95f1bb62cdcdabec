#include "backend/zookeeper/transport/session.hpp"

#include <algorithm>
#include <utility>

#include "base/mutant.hpp"

namespace holdfast::zookeeper {

using base::event_queue;
using base::failure;
using base::mutant;
using base::planted;

namespace {

duration milliseconds_of(std::int32_t n) { return std::chrono::milliseconds{n}; }

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

session::session(session_host& owner, const ensemble& e)
    : owner_(owner), ensemble_(e), servers_(e.servers, e.retry_base, owner.env()) {}

void session::open(time_point now) {
  connect(now);
  schedule(now);
}

void session::connect(time_point now) {
  state_ = state::connecting;
  began_ = now;
  out_.clear();
  if (owner_.connect(channel::session, servers_.current(), last_failure_)) return;
  state_ = state::waiting;
  retry_at_ = now + ensemble_.retry_base;
}

void session::reconnect(time_point now) {
  owner_.disconnect(channel::mode);
  owner_.disconnect(channel::session);
  deadline_.detach();
  in_flight_.clear();  // only requests of the session's own are left
  connect(now);
}

void session::opened(channel c, time_point now, event_queue&) {
  if (c == channel::mode) {
    mode_out_ = mode_question;
  } else if (state_ == state::connecting) {
    begin_attaching(now);
  }
  schedule(now);
}

// The timeout of the creation is asked for again: another one would move the session's end at
// some servers and not at others.
void session::begin_attaching(time_point now) {
  state_ = state::attaching;
  attach_sent_ = now;
  frames_ = frame_reader();
  const bool is_ours = id_ != 0 && retired_.id == 0;
  const duration timeout = is_ours ? deadline_.created_timeout() : ensemble_.session_timeout;
  connect_request r;
  r.last_zxid_seen = last_zxid_;
  r.timeout_ms = static_cast<std::int32_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(timeout).count());
  r.session_id = retired_.id != 0 ? retired_.id : id_;
  r.password = retired_.id != 0 ? retired_.password : password_;
  // A read-only server grants no locks, and what it shows may be old.
  r.accepts_read_only = planted(mutant::read_only_server_believed);
  append_connect(out_, r);
}

void session::received(channel c, std::span<const std::byte> bytes, time_point now,
                       event_queue& events) {
  if (c == channel::mode) return on_mode_bytes(bytes);
  if (state_ < state::attaching || state_ == state::ended) return;
  (void)check_lapse(now, events);
  const bool works = frames_.feed(bytes, [&](std::span<const std::byte> frame) {
    if (state_ == state::attaching) {
      on_attaching_frame(frame, now, events);
    } else {
      on_frame(frame, now, events);
    }
    return is_connected();
  });
  if (!works && (is_connected() || state_ == state::attaching))
    fail({errc::unavailable, "the peer is not a ZooKeeper server, or a proxy corrupts its replies; "
                             "check host, port and TLS"},
         now, events);
  schedule(now);
}

void session::on_attaching_frame(std::span<const std::byte> frame, time_point now,
                                 event_queue& events) {
  const auto answer = read_connect_response(frame);
  if (answer && (!answer->is_read_only || planted(mutant::read_only_server_believed)))
    return on_attached_frame(*answer, now, events);
  const auto head = read_reply(frame);
  const bool is_read_only = answer || (head && head->is(error::not_read_write));
  fail({errc::unavailable,
        is_read_only ? "the server is read-only: it has no quorum, and its data may be outdated"
                     : "the peer is not a ZooKeeper server; check host, port and TLS"},
       now, events);
}

void session::on_attached_frame(const connect_response& answer, time_point now,
                                event_queue& events) {
  if (retired_.id != 0) {
    if (!answer.is_expired()) return send_close(state::retiring, now);
    retired_ = {};
    return closes_ ? end({}, events) : reconnect(now);
  }
  if (answer.is_expired()) {
    if (id_ == 0)
      return fail({errc::unavailable, "the server did not create a session"}, now, events);
    lose({errc::timed_out, "the session had expired at the server"}, now, events);
    return closes_ ? end({}, events) : reconnect(now);
  }
  const bool is_new = id_ == 0;
  if (!is_new && answer.session_id != id_)
    return fail({errc::unavailable,
                 "the server attached another session than requested; a proxy may mix up clients"},
                now, events);
  const duration timeout = milliseconds_of(answer.timeout_ms);
  id_ = answer.session_id;
  password_ = answer.password;
  if (is_new || planted(mutant::attachment_alone_renews)) {
    deadline_.create(attach_sent_, timeout);
  } else if (!deadline_.attach(attach_sent_, timeout)) {
    return retire({errc::timed_out, "the server has negotiated another timeout than the one that "
                                    "made the session: give all servers the same "
                                    "minSessionTimeout and maxSessionTimeout"},
                  now, events);
  }
  if (check_lapse(now, events)) return;  // the answer took too long
  become_attached(is_new, now, events);
}

void session::become_attached(bool is_new, time_point now, event_queue& events) {
  state_ = state::attached;
  servers_.on_attached();
  last_failure_ = {};
  if (!planted(mutant::ping_of_a_lost_connection_awaited)) pings_ = 0;
  renews_ = false;
  if (closes_) return send_close(state::closing, now);
  if (!ensemble_.credentials.empty()) append_auth(out_, "digest", ensemble_.credentials);
  if (!is_new) {
    const bool are_set = !planted(mutant::watches_not_set_again);
    for (unsigned n = are_set ? append_set_watches(out_, last_zxid_, watches_.all()) : 0; n > 0;
         --n)
      expect_own(opcode::set_watches, xid::set_watches, now);
    send_renewing_write(now);
  }
  if (ensemble_.attach == attach_to::leader) ask_mode();
  if (is_new || planted(mutant::attachment_alone_renews)) report_deadline(events);
  owner_.on_attached(is_new, now, events);
  cut_unwanted(now, events);
  if (state_ == state::attached) send_queued(now);
}

void session::send_close(state next, time_point now) {
  const std::int32_t number = next_number();
  append_close_session(out_, number);
  expect_own(opcode::close_session, number, now);
  state_ = next;
}

// It may live on at the server: it is closed there, so that nobody waits for its nodes.
void session::retire(failure why, time_point now, event_queue& events) {
  const bool was_attached = state_ == state::attached || state_ == state::draining ||
                            (state_ == state::attaching && deadline_.is_attached());
  identity old{id_, password_};
  // Requests that are submitted from here on are for the next session.
  if (was_attached && !planted(mutant::queued_with_the_lost_session)) state_ = state::retiring;
  lose(why, now, events);
  retired_ = std::move(old);
  owner_.disconnect(channel::mode);
  if (was_attached) send_close(state::retiring, now);
}

void session::lose(const failure& why, time_point now, event_queue& events) {
  id_ = 0;
  password_.clear();
  deadline_.forget();
  watches_.clear();
  is_doubtful_ = false;
  cut(now, events);
  cut_queue(now, events, queue_.size());
  // Requests that are repeated during this call come from claims not yet notified of the loss: the
  // next session would execute them for claims that have lost everything.
  const std::size_t asked_again = planted(mutant::lost_request_repeated) ? 0 : queue_.size();
  owner_.on_session_lost(why, events);
  cut_queue(now, events, asked_again);
}

void session::closed(channel c, failure why, time_point now, event_queue& events) {
  if (c == channel::mode || state_ < state::connecting || state_ == state::ended) return;
  if (state_ == state::retiring) {  // it was asked to close, and closes
    retired_ = {};
    if (closes_) return end({}, events);
    reconnect(now);
    return schedule(now);
  }
  if (state_ == state::attaching && why.code == errc::unavailable)
    why.text += "; a server that ends a connection instead of answering has no quorum, has too "
                "many connections from here (maxClientCnxns), speaks TLS (zookeepers:), or has "
                "older data than this client has seen (another server may be up to date)";
  fail(std::move(why), now, events);
  schedule(now);
}

void session::fail(failure why, time_point now, event_queue& events) {
  if (state_ == state::retiring) retired_ = {};  // the request went out, and is not repeated
  owner_.disconnect(channel::mode);
  owner_.disconnect(channel::session);
  deadline_.detach();
  state_ = state::waiting;
  const duration pause = servers_.on_failed();
  retry_at_ = now + pause;
  last_failure_ = std::move(why);
  cut(now, events);
  if (id_ != 0) note_doubt(events);
  owner_.on_down(last_failure_, now, events);
  cut_unwanted(now, events);
  if (closes_ && id_ == 0 && retired_.id == 0) return end({}, events);
  if (pause == duration{} && state_ == state::waiting) connect(now);
}

void session::cut(time_point now, event_queue& events) {
  std::deque<sent_request> all;
  all.swap(in_flight_);
  for (const sent_request& r : all)
    if (r.to) r.to->on_cut(true, {now, r.mark.sent, events});
}

// The first of them.
void session::cut_queue(time_point now, event_queue& events, std::size_t count) {
  for (; count > 0; --count) {
    const queued_request first = std::move(queue_.front());
    queue_.pop_front();
    first.to->on_cut(false, {now, now, events});
  }
}

void session::close(time_point now, event_queue& events) {
  if (std::exchange(closes_, true)) return;
  const bool has_none = id_ == 0 && retired_.id == 0;
  if (state_ == state::idle || (has_none && state_ < state::attaching)) return end({}, events);
  if (state_ == state::attached || state_ == state::draining) send_close(state::closing, now);
  if (state_ == state::waiting) retry_at_ = now;
  schedule(now);
}

void session::end(failure why, event_queue& events) {
  state_ = state::ended;
  owner_.disconnect(channel::mode);
  owner_.disconnect(channel::session);
  const time_point now = owner_.env().now();
  id_ = 0;
  deadline_.forget();
  cut(now, events);
  cut_queue(now, events, queue_.size());
  owner_.on_ended(why, events);
}

time_point session::renewal_due() const noexcept {
  if (renews_) return base::never;
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
  time_point due = base::never;
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
  if (state_ == state::attached) by(renewal_due());
  if (id_ != 0 && state_ != state::closing) {
    if (!believes_a_lapse()) by(deadline_.deadline());
    if (!is_doubtful_) by(doubt_due());
  }
  if (due != base::never) owner_.wake_by(due);
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
  if (!in_flight_.empty() && now >= silent_since() + silence_max())
    return fail({errc::unavailable, "the server does not answer"}, now, events);
  if (pings_ == 0 && is_ping_due(now)) send_ping(now);
}

bool session::is_ping_due(time_point now) const noexcept {
  const bool awaits_reply = !in_flight_.empty() && state_ != state::retiring;
  return (awaits_reply && now >= in_flight_.front().mark.sent + reply_overdue) ||
         (planted(mutant::deadline_by_any_reply) && state_ == state::attached &&
          now >= renewal_due());
}

// At the leader a write renews; elsewhere only a new connection does. What is in flight is waited
// for, so that nothing is cut.
void session::check_renewal(time_point now) {
  if (now < renewal_due()) return;
  if (deadline_.is_at_leader() || planted(mutant::write_at_follower_renews))
    return send_renewing_write(now);
  state_ = state::draining;
  finish_draining(now);
}

}  // namespace holdfast::zookeeper
