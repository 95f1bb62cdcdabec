#include "backend/redis/transport/connection.hpp"

#include <algorithm>
#include <utility>

#include "backend/redis/transport/error_text.hpp"
#include "base/mutant.hpp"

namespace holdfast::redis {

using base::event_queue;
using base::failure;
using base::mutant;
using base::planted;
using namespace std::chrono_literals;

namespace {

constexpr duration retry_max = 2s;

}  // namespace

connection::connection(connection_owner& owner, const endpoint& e, lane purpose,
                       subscriptions& channels)
    : owner_(owner), endpoint_(e), lane_(purpose), handshake_(e, purpose, channels) {}

void connection::open(time_point now) {
  if (state_ != state::down || retry_at_ != base::never || !owner_.may_open(*this, now)) return;
  state_ = state::connecting;
  is_passing_ = false;
  began_ = now;
  reader_ = std::make_unique<reply_reader>();
  marked_ = released_ = asked_ = answered_ = 0;
  arrivals_.clear();
  aborted_.clear();
  stream_ = owner_.connect(*this, last_failure_);
  if (stream_) return owner_.wake_by(now + endpoint_.connect_timeout);
  state_ = state::down;
  retry_later(now, false);
}

void connection::retry_later(time_point now, bool at_once) {
  const unsigned doublings = std::clamp(attempts_, 1u, 11u) - 1;
  const duration pause = std::min(retry_max, endpoint_.retry_base * (1u << doublings));
  retry_at_ = at_once ? now : now + base::jittered(owner_.env(), pause, 0.25);
  ++attempts_;
  owner_.wake_by(retry_at_);
}

void connection::expect(reply_handler& to, std::uint32_t replies, time_point sent, attended by,
                        std::uint16_t script) {
  if (in_flight_.empty()) owner_.wake_by(sent + silence_noticed());
  expected_reply r;
  r.to = &to;
  r.sent = sent;
  r.first = std::exchange(expected_, expected_ + replies);
  r.replies = replies;
  r.script = script;
  r.is_unattended = by == attended::in_background;
  in_flight_.push_back(r);
  unattended_ += r.is_unattended ? 1 : 0;
}

void connection::ask(reply_handler& to, std::uint32_t values, time_point sent) {
  asked_ = expected_;
  answered_ = expected_ + values;
  for (std::uint32_t i = 0; i < values; ++i) expect(to, 1, sent);
}

bool connection::awaits_what_is_held() const noexcept {
  for (std::size_t i = 0; i < in_flight_.size(); ++i)
    if (!in_flight_[i].to->counts_at_once()) return true;
  return false;
}

void connection::on_open(time_point now, event_queue&) {
  if (state_ != state::connecting) return;
  state_ = state::greeting;
  handshake_.begin(out_, now);
}

void connection::on_bytes(std::span<const std::byte> bytes, time_point now, event_queue& events) {
  if (state_ < state::greeting) return;
  if (std::exchange(is_silent_, false)) owner_.on_heard(*this, now);
  reader_->feed(bytes);
  take_replies(now, events);
  if (has_held()) reader_->look_ahead([&](const value& v) { return take_early(v, now, events); });
  if (!has_held()) return arrivals_.clear();
  if (!reader_->fault().empty()) return fail_unreadable(now, events);
  arrivals_.push_back({reader_->replies(), now});
  owner_.on_held(*this, now);
}

void connection::release(std::uint64_t up_to, time_point now, event_queue& events) {
  released_ = std::max(released_, up_to);
  if (has_held()) take_replies(now, events);
}

void connection::release_marked(time_point now, event_queue& events) {
  release(marked_, now, events);
}

void connection::release_asked(time_point now, event_queue& events) {
  release(planted(mutant::answer_covers_what_follows) ? expected_ : asked_, now, events);
}

time_point connection::received_at(time_point now) noexcept {
  while (!arrivals_.empty() && arrivals_.front().values < reader_->passed_on())
    arrivals_.pop_front();
  return arrivals_.empty() ? now : arrivals_.front().at;
}

// A value behind one that is held back. False: the connection is down after it.
bool connection::take_early(const value& v, time_point now, event_queue& events) {
  std::size_t at = 0, end = in_flight_.size();  // the last request that begins before the value
  while (end - at > 1) {
    const std::size_t middle = (at + end) / 2;
    (in_flight_[middle].first < reader_->replies() ? at : end) = middle;
  }
  const expected_reply r = in_flight_[at];
  if (r.first + r.replies < reader_->replies() || !r.to->counts_at_once()) return true;
  unattended_ -= r.is_unattended ? 1 : 0;
  in_flight_[at] = {.sent = r.sent, .first = r.first};
  pass(r, v, {now, r.sent, events, {}, at < doubted_, owner_.lanes_agree()});
  return state_ != state::down;
}

bool connection::is_held_back(const expected_reply& r) noexcept {
  return reader_->passed_on() > released_ && owner_.holds_back(*this) && r.to &&
         !r.to->counts_at_once();
}

void connection::take_replies(time_point now, event_queue& events) {
  const bool works = reader_->for_each([&](const value& v) { return handle(v, now, events); });
  if (!works && state_ != state::down) fail_unreadable(now, events);
}

void connection::fail_unreadable(time_point now, event_queue& events) {
  fail({errc::unavailable, "the peer does not speak the Redis protocol: it is not a Redis server, "
                           "or a proxy corrupts its replies (" +
                               reader_->fault() + "); check host, port and TLS"},
       loss::in_use, now, events);
}

// Whether the value is no reply, but sent by the server on its own; or not the last one of a reply
// with several.
bool connection::take_push(const value& v, time_point now, event_queue& events) {
  if (lane_ != lane::messages) return false;
  if (!in_flight_.empty() && in_flight_.front().to->continues_after(v)) return true;
  if (!v.is(value::kind::array)) return false;
  const std::string_view verb = v[0].text(), channel = v[1].text();
  if (verb == "message" || verb == "smessage") {
    owner_.on_message(channel, v[2].text(), now, events);
    return true;
  }
  if (verb != "sunsubscribe") return false;
  owner_.on_unsubscribed(channel, now, events);
  return true;
}

// False when the connection is down after it, or when it is held back.
bool connection::handle(const value& v, time_point now, event_queue& events) {
  if (take_push(v, now, events)) return state_ != state::down;
  if (state_ == state::greeting) {
    on_handshake_reply(v, now, events);
  } else if (in_flight_.empty()) {
    fail({errc::unavailable, "the server sent a reply without a request; it may be a proxy that "
                             "mixes up its clients"},
         loss::in_use, now, events);
  } else if (is_held_back(in_flight_.front())) {
    return false;
  } else if (--in_flight_.front().replies == 0) {
    on_last_reply(v, now, events);
  } else if (v.is(value::kind::error) && aborted_.empty()) {
    // Only the last reply of a transaction counts, but an earlier error explains its failure.
    aborted_ = v.text();
  }
  return state_ != state::down;
}

void connection::on_last_reply(const value& v, time_point now, event_queue& events) {
  const expected_reply r = in_flight_.front();
  in_flight_.pop_front();
  unattended_ -= r.is_unattended ? 1 : 0;
  const bool is_doubted = doubted_ > 0;
  doubted_ -= is_doubted ? 1 : 0;
  if (!r.to) return;
  const std::string aborted = std::exchange(aborted_, {});
  pass(r, v, {now, r.sent, events, aborted, is_doubted, owner_.lanes_agree(), received_at(now)});
}

void connection::pass(const expected_reply& r, const value& v, const reply_context& c) {
  if (!v.has_errors() && c.aborted.empty()) return r.to->on_reply(v, c);
  on_error(r, v, c);
}

// An error, in the reply or before it in a transaction.
void connection::on_error(const expected_reply& r, const value& v, const reply_context& c) {
  const bool is_missed = planted(mutant::doubt_in_transaction_missed);
  const bool is_in_doubt = puts_data_in_doubt(v) || (!is_missed && puts_data_in_doubt(c.aborted));
  if (is_in_doubt) owner_.on_data_in_doubt();
  const bool is_demoted =
      is_in_doubt && r.to->needs_master() && (is_of_replica(v) || is_of_replica(c.aborted));
  const auto not_done = not_executed_by(v, c.aborted);
  if (not_done == not_executed::script_missing) owner_.on_script_missing(r.script);
  not_done ? r.to->on_not_executed(*not_done, v, c) : r.to->on_reply(v, c);
  if (is_demoted) owner_.on_demoted(c.now, c.events);
}

void connection::on_handshake_reply(const value& v, time_point now, event_queue& events) {
  switch (handshake_.on_reply(v, out_, now)) {
    case handshake::outcome::goes_on: return;
    case handshake::outcome::introduced: return on_introduced(now, events);
    case handshake::outcome::done: return become_ready(now, events);
    case handshake::outcome::failed: break;
  }
  is_passing_ = handshake_.is_passing();
  fail(handshake_.why(), is_passing_ ? loss::in_use : loss::refused, now, events);
}

void connection::on_introduced(time_point now, event_queue& events) {
  failure why;
  if (!owner_.accepts(*this, why, now, events)) {
    is_passing_ = why.code == errc::unavailable;
    return fail(std::move(why), is_passing_ ? loss::in_use : loss::refused, now, events);
  }
  if (handshake_.go_on(out_, now) == handshake::outcome::done) become_ready(now, events);
}

void connection::become_ready(time_point now, event_queue& events) {
  state_ = state::ready;
  expected_ = reader_->replies();
  attempts_ = 0;
  last_failure_ = {};
  owner_.on_ready(*this, now, events);
}

void connection::on_closed(failure why, time_point now, event_queue& events) {
  if (state_ == state::down) return;
  if (state_ == state::greeting && !why.text.empty() && !endpoint_.tls)
    why.text += "; the URL of a server with TLS begins with rediss:";
  const loss kind = why.code == errc::refused     ? loss::refused
                    : state_ == state::connecting ? loss::not_reached
                                                  : loss::in_use;
  fail(std::move(why), kind, now, events);
}

void connection::fail(failure why, loss kind, time_point now, event_queue& events) {
  was_ready_ = state_ == state::ready;
  handshake_.on_lost(was_ready_ || lane_ == lane::messages, now);
  state_ = state::down;
  doubted_ = 0;
  is_silent_ = false;
  if (stream_) stream_->leave();
  stream_.reset();
  out_.clear();
  last_failure_ = why;
  retry_later(now, attempts_ == 0 && kind != loss::refused);
  base::ring<expected_reply> cut;
  cut.swap(in_flight_);
  unattended_ = 0;
  for (; !cut.empty(); cut.pop_front())
    if (cut.front().to) cut.front().to->on_cut({now, cut.front().sent, events});
  owner_.on_down(*this, why, kind, now, events);
}

void connection::end(failure why, time_point now, event_queue& events) {
  if (state_ == state::down) return;
  is_passing_ = true;
  fail(std::move(why), loss::in_use, now, events);
}

void connection::reject(failure why, time_point now, event_queue& events) {
  attempts_ = std::max(attempts_, 1u);
  end(std::move(why), now, events);
}

void connection::refuse(failure why, time_point now, event_queue& events) {
  is_passing_ = false;
  fail(std::move(why), loss::refused, now, events);
}

void connection::on_alarm(time_point now, event_queue& events) {
  if (state_ == state::down) {
    if (retry_at_ == base::never) return;
    if (now < retry_at_) return owner_.wake_by(retry_at_);
    retry_at_ = base::never;
    return open(now);
  }
  if (state_ != state::ready) {
    const time_point end = began_ + endpoint_.connect_timeout;
    if (now < end) return owner_.wake_by(end);
    is_passing_ = true;
    return fail(too_late("connect-timeout"), loss::in_use, now, events);
  }
  if (in_flight_.empty()) return;
  const time_point sent = in_flight_.front().sent;
  if (now < sent + silence_noticed()) return owner_.wake_by(sent + silence_noticed());
  if (!std::exchange(is_silent_, true)) owner_.on_silent(*this, now);
  if (now < sent + silence_max()) return owner_.wake_by(sent + silence_max());
  fail({errc::unavailable, owner_.why_silent(*this)}, loss::in_use, now, events);
}

// An attempt out of turn does not make the pause after it longer: many callers with a short bound
// would keep a client away from a server that is back.
void connection::retry_now(time_point by) {
  if (state_ != state::down || retry_at_ == base::never || retry_at_ <= by) return;
  if (attempts_ > 1) --attempts_;
  retry_at_ = by;
  owner_.wake_by(by);
}

// A server that wants plain text may wait for more where TLS begins, and send nothing.
failure connection::too_late(std::string_view bound) const {
  std::string text = "no connection within the " + std::string(bound);
  if (endpoint_.tls && state_ <= state::connecting)
    text += "; if the server does not speak TLS there, open it as redis:";
  return {errc::unavailable, std::move(text)};
}

}  // namespace holdfast::redis
