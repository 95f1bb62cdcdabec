#include "backend/redis/transport/connection.hpp"

#include <algorithm>
#include <utility>

#include "backend/redis/layouts/string/codec.hpp"
#include "backend/redis/transport/server_info.hpp"
#include "base/mutant.hpp"

namespace holdfast::redis {

using core::event_queue;
using core::failure;
using core::mutant;
using core::planted;
using namespace std::chrono_literals;

namespace {

constexpr duration retry_max = 2s;

constexpr std::size_t predecessors_max = 32;
constexpr const char* role_names[] = {"commands", "messages", "renewals"};

}  // namespace

line::line(line_owner& home, const settings& s, role what, std::uint64_t client)
    : home_(home), settings_(s), role_(what), client_(client) {}

void line::open(time_point now) {
  if (state_ != state::down || retry_at_ != core::never) return;
  state_ = state::connecting;
  passes_ = false;
  began_ = now;
  reader_ = std::make_unique<reply_reader>();
  out_.clear();
  greeting_.clear();
  own_id_ = 0;
  wire_ = home_.connect(*this, last_failure_);
  if (wire_) return home_.wake_by(now + settings_.connect_timeout);
  state_ = state::down;
  retry_later(now, false);
}

void line::retry_later(time_point now, bool at_once) {
  const unsigned doublings = std::clamp(attempts_, 1u, 11u) - 1;
  const duration pause = std::min(retry_max, settings_.retry_base * (1u << doublings));
  retry_at_ = at_once ? now : now + core::jittered(home_.env(), pause, 0.25);
  ++attempts_;
  home_.wake_by(retry_at_);
}

void line::expect(reply_handler& to, std::uint32_t replies, time_point sent, attended by) {
  if (in_flight_.empty()) home_.wake_by(sent + silence_noticed());
  expected_reply r;
  r.to = &to;
  r.sent = sent;
  r.replies = replies;
  r.is_unattended = by == attended::by_nobody;
  in_flight_.push_back(r);
  unattended_ += r.is_unattended ? 1 : 0;
}

void line::opened() {
  if (state_ != state::connecting) return;
  state_ = state::greeting;
  if (!settings_.password.empty()) greet(step::auth);
  if (settings_.database != 0) greet(step::select);
  greet(step::name);
  greet(step::id);
  greet(step::info);
}

void line::greet(step s) {
  greeting_.push_back(s);
  switch (s) {
    case step::auth:
      if (settings_.user.empty()) {
        command(out_, 2) << "AUTH" << settings_.password;
      } else {
        command(out_, 3) << "AUTH" << settings_.user << settings_.password;
      }
      return;
    case step::select:
      command(out_, 2) << "SELECT" << static_cast<std::int64_t>(settings_.database);
      return;
    case step::name:
      command(out_, 3) << "CLIENT"
                       << "SETNAME"
                       << std::string("holdfast-") + role_names[static_cast<unsigned>(role_)];
      return;
    case step::id:
      command(out_, 2) << "CLIENT"
                       << "ID";
      return;
    case step::info:
      command(out_, 2) << "INFO"
                       << "server";
      return;
    case step::subscribe: command(out_, 2) << "SUBSCRIBE" << channel_of(client_); return;
    case step::kill: return;  // greet_kill()
  }
}

void line::received(std::span<const std::byte> bytes, time_point now, event_queue& events) {
  if (state_ < state::greeting) return;
  if (std::exchange(is_silent_, false)) home_.on_heard(*this, now);
  bool works = reader_->feed(bytes);
  if (works) works = reader_->for_each([&](const value& v) { return handle(v, now, events); });
  if (works || state_ == state::down) return;
  fail({errc::unavailable, "what answers there is no Redis server, or something on the way spoils "
                           "its replies (" +
                               reader_->fault() + "); check host, port and TLS"},
       loss::in_use, now, events);
}

// False when the line is down after it.
bool line::handle(const value& v, time_point now, event_queue& events) {
  if (state_ == state::greeting) return greeted(v, now, events);
  if (role_ == role::messages && v.is(value::kind::array) && v[0].text() == "message") {
    home_.on_message(*this, v, now, events);
    return state_ != state::down;
  }
  if (in_flight_.empty()) {
    fail({errc::unavailable, "the server answered what was never asked; it may be a proxy that "
                             "mixes up its clients"},
         loss::in_use, now, events);
    return false;
  }
  expected_reply& front = in_flight_.front();
  if (--front.replies > 0) {
    // Of a transaction only the last reply counts, but an error before it says why that fails.
    if (v.is(value::kind::error) && aborted_.empty()) aborted_ = v.text();
    return true;
  }
  const expected_reply asked = front;
  in_flight_.pop_front();
  unattended_ -= asked.is_unattended ? 1 : 0;
  const bool is_missed = planted(mutant::doubt_in_transaction_missed);
  if (puts_data_in_doubt(v) || (!is_missed && puts_data_in_doubt(aborted_)))
    home_.on_data_in_doubt(*this);
  const reply_context c{now, asked.sent, events, aborted_};
  if (v.is_error("NOSCRIPT")) {
    asked.to->on_not_executed(c);
  } else {
    asked.to->on_reply(v, c);
  }
  aborted_.clear();
  return state_ != state::down;
}

bool line::greeted(const value& v, time_point now, event_queue& events) {
  const step s = greeting_.front();
  greeting_.pop_front();
  if (v.is(value::kind::error) && !greet_failed(s, v, now, events)) return false;
  switch (s) {
    case step::id: own_id_ = v.integer(); break;
    case step::info: learn_server(v.is(value::kind::text) ? v.text() : ""); break;
    case step::kill:
      if (v.is(value::kind::integer)) predecessors_.erase(predecessors_.begin());
      break;
    default: break;
  }
  if (greeting_.empty()) become_ready(now, events);
  return state_ != state::down;
}

// True when the greeting goes on without it.
bool line::greet_failed(step s, const value& v, time_point now, event_queue& events) {
  const bool is_full = v.text().starts_with("ERR max number of clients");
  const bool may_lack = !is_full && s != step::auth && s != step::select && s != step::subscribe;
  if (may_lack && (v.is_error("NOPERM") || v.is_error("ERR"))) return true;
  const reply r = read_error(v, {});
  const bool passes = is_full || r.what == reply::verdict::not_now;
  passes_ = passes;
  fail({passes ? errc::unavailable : r.why, explain(v.text())},
       passes ? loss::in_use : loss::refused, now, events);
  return false;
}

// INFO is answered last of the first steps: what follows depends on it. A server that was started
// anew counts its clients anew: an old id may be somebody else's, and what was under way to the old
// server is gone with it.
void line::learn_server(std::string_view info) {
  std::string run_id(info_field(info, "run_id"));
  const bool known = !run_id.empty() && !run_id_.empty();
  if (known && run_id != run_id_) {
    predecessors_.clear();
    is_sole_ = true;
  } else if (known && !planted(mutant::predecessor_not_killed)) {
    for (std::size_t i = 0; i < predecessors_.size(); ++i) greet_kill(predecessors_[i]);
  }
  if (!run_id.empty()) run_id_ = std::move(run_id);
  if (role_ == role::messages) greet(step::subscribe);
}

void line::greet_kill(std::int64_t id) {
  greeting_.push_back(step::kill);
  command(out_, 4) << "CLIENT"
                   << "KILL"
                   << "ID" << id;
}

void line::become_ready(time_point now, event_queue& events) {
  state_ = state::ready;
  attempts_ = 0;
  last_failure_ = {};
  if (!predecessors_.empty() && !planted(mutant::predecessor_not_killed)) is_sole_ = false;
  home_.on_ready(*this, now, events);
}

void line::closed(failure why, time_point now, event_queue& events) {
  if (state_ == state::down) return;
  if (state_ == state::greeting && !why.text.empty() && !settings_.tls)
    why.text += "; a server that wants TLS is opened as rediss:";
  const loss how = why.code == errc::refused     ? loss::refused
                   : state_ == state::connecting ? loss::not_reached
                                                 : loss::in_use;
  fail(std::move(why), how, now, events);
}

void line::fail(failure why, loss how, time_point now, event_queue& events) {
  const bool has_spoken = state_ == state::ready || role_ == role::messages;
  if (has_spoken && own_id_ != 0 && predecessors_.size() < predecessors_max)
    predecessors_.push_back(own_id_);
  if (has_spoken && own_id_ == 0) is_sole_ = false;
  state_ = state::down;
  is_silent_ = false;
  if (wire_) wire_->stream->abort();
  wire_.reset();
  out_.clear();
  greeting_.clear();
  last_failure_ = why;
  retry_later(now, attempts_ == 0 && how != loss::refused);
  core::ring<expected_reply> cut;
  cut.swap(in_flight_);
  unattended_ = 0;
  for (; !cut.empty(); cut.pop_front()) cut.front().to->on_cut({now, cut.front().sent, events, {}});
  home_.on_down(*this, why, how, now, events);
}

void line::on_alarm(time_point now, event_queue& events) {
  if (state_ == state::down) {
    if (retry_at_ == core::never) return;
    if (now < retry_at_) return home_.wake_by(retry_at_);
    retry_at_ = core::never;
    return open(now);
  }
  if (state_ != state::ready) {
    const time_point end = began_ + settings_.connect_timeout;
    if (now < end) return home_.wake_by(end);
    passes_ = true;
    return fail(too_late("connect-timeout"), loss::in_use, now, events);
  }
  if (in_flight_.empty()) return;
  const time_point sent = in_flight_.front().sent;
  if (now < sent + silence_noticed()) return home_.wake_by(sent + silence_noticed());
  if (!std::exchange(is_silent_, true)) home_.on_silent(*this, now);
  if (now < sent + silence_max()) return home_.wake_by(sent + silence_max());
  fail({errc::unavailable, "the server does not answer"}, loss::in_use, now, events);
}

void line::hurry(time_point by) {
  if (state_ != state::down || retry_at_ == core::never || retry_at_ <= by) return;
  retry_at_ = by;
  home_.wake_by(by);
}

// A server that wants plain text may wait for more where TLS begins, and say nothing.
core::failure line::too_late(std::string_view bound) const {
  std::string text = "no connection within the " + std::string(bound);
  if (settings_.tls && state_ <= state::connecting)
    text += "; if the server does not speak TLS there, open it as redis:";
  return {errc::unavailable, std::move(text)};
}

}  // namespace holdfast::redis
