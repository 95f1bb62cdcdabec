// The requests and replies over the session's connection.
#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "backend/zookeeper/transport/session.hpp"
#include "base/mutant.hpp"

namespace holdfast::zookeeper {

using base::event_queue;
using base::failure;
using base::mutant;
using base::planted;

namespace {

// At the leader each write proves a little more. The owner is told of this part of the timeout at
// once, since each lock that is held has to learn of it.
constexpr int report_part = 32;

}  // namespace

std::int32_t session::next_number() noexcept {
  last_number_ = last_number_ == 0x7fffffff ? 1 : last_number_ + 1;
  return last_number_;
}

bool session::submit(reply_handler& to, opcode op, std::string body, time_point now,
                     std::string watched) {
  if (state_ == state::ended || closes_) return false;
  queued_request r{&to, op, std::move(body), std::move(watched)};
  if (state_ == state::attached) {
    send(std::move(r), now);
    schedule(now);
  } else {
    queue_.push_back(std::move(r));
  }
  return true;
}

void session::send(queued_request r, time_point now) {
  const std::int32_t number = next_number();
  append_frame(out_, [&](std::string& to) {
    jute_writer(to).write_int(number).write_int(static_cast<std::int32_t>(r.op));
    to += r.body;
  });
  in_flight_.push_back({r.to, number, r.op, deadline_.mark(now), std::move(r.watched)});
}

void session::send_queued(time_point now) {
  while (!queue_.empty()) {
    queued_request r = std::move(queue_.front());
    queue_.pop_front();
    send(std::move(r), now);
  }
}

// Drops queued requests whose callers have given up: without a connection they would pile up.
void session::cut_unwanted(time_point now, event_queue& events) {
  const auto has_requester = [](const queued_request& r) { return r.to->has_requester(); };
  const auto end = std::stable_partition(queue_.begin(), queue_.end(), has_requester);
  const std::vector<queued_request> unwanted(std::make_move_iterator(end),
                                             std::make_move_iterator(queue_.end()));
  queue_.erase(end, queue_.end());
  for (const queued_request& r : unwanted) r.to->on_cut(false, {now, now, events});
}

void session::expect_own(opcode op, std::int32_t number, time_point now) {
  in_flight_.push_back({nullptr, number, op, deadline_.mark(now), {}});
}

// A multi of nothing: the leader proposes it like any write, and it needs no node and no right.
void session::send_renewing_write(time_point now) {
  const std::int32_t number = next_number();
  append_frame(out_, [&](std::string& to) {
    jute_writer(to).write_int(number).write_int(static_cast<std::int32_t>(opcode::multi));
    multi_writer(to).end();
  });
  expect_own(opcode::multi, number, now);
  renews_ = true;
}

void session::send_ping(time_point now) {
  append_ping(out_);
  expect_own(opcode::ping, xid::ping, now);
  ++pings_;
}

// Asked after this connection was attached: a server that changes its role closes them all, so the
// answer holds for what is sent from then on.
void session::ask_mode() {
  mode_ = server_mode::unknown;
  mode_answer_.clear();
  mode_out_.clear();
  failure ignored;
  (void)owner_.connect(channel::mode, servers_.current(), ignored);
}

void session::on_mode_bytes(std::span<const std::byte> bytes) {
  mode_answer_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  mode_ = read_mode(mode_answer_);
  if (leads(mode_)) deadline_.note_leader();
  if (mode_ != server_mode::unknown || mode_answer_.size() > mode_answer_max)
    owner_.disconnect(channel::mode);
}

void session::on_frame(std::span<const std::byte> frame, time_point now, event_queue& events) {
  const auto r = read_reply(frame);
  if (!r) return fail({errc::unavailable, "the server sent a malformed reply"}, now, events);
  if (r->head.zxid > last_zxid_) last_zxid_ = r->head.zxid;
  if (state_ == state::retiring) return on_retiring_frame(*r, now, events);
  if (r->head.xid == xid::event) {
    const auto e = read_watch_event(r->body);
    if (!e)
      return fail({errc::unavailable, "the server sent a malformed watch event"}, now, events);
    watches_.on_event(*e);
    return owner_.on_watch(*e, now, events);
  }
  if (r->head.xid == xid::auth) {  // it overtakes earlier replies
    if (!r->is_ok())
      end({errc::refused, "the server does not accept the user and the password"}, events);
    return;
  }
  on_reply(*r, now, events);
  if (state_ == state::draining) finish_draining(now);
}

void session::on_retiring_frame(const reply& r, time_point now, event_queue& events) {
  if (in_flight_.empty() || r.head.xid != in_flight_.front().number) return;
  retired_ = {};
  if (closes_) return end({}, events);
  reconnect(now);
}

void session::on_reply(const reply& r, time_point now, event_queue& events) {
  if (in_flight_.empty() || in_flight_.front().number != r.head.xid)
    return fail({errc::unavailable,
                 "the server's replies are out of order; a proxy may mix up clients"},
                now, events);
  if (r.is(error::session_moved))
    return fail({errc::unavailable, "the session is attached to another server"}, now, events);
  const sent_request request = std::move(in_flight_.front());
  in_flight_.pop_front();
  replied_at_ = now;
  note_write(request, r, now, events);
  if (!request.to) return on_own_reply(request, events);
  if (!request.watched.empty()) watches_.on_answered(request.op, r.head.code, request.watched);
  request.to->on_reply(r, {now, request.mark.sent, events});
}

void session::on_own_reply(const sent_request& r, event_queue& events) {
  if (r.op == opcode::ping) --pings_;
  if (r.op == opcode::multi) renews_ = false;
  if (r.op == opcode::close_session && state_ == state::closing) end({}, events);
}

// Only a write that was executed proves anything. Of a multi the header does not tell.
void session::note_write(const sent_request& request, const reply& r, time_point now,
                         event_queue& events) {
  const bool counts = is_write(request.op) || planted(mutant::deadline_by_any_reply);
  if (!counts || !r.is_ok()) return;
  if (request.op == opcode::multi) {
    const auto result = read_multi(r.body);
    if (!result || result->code != error::ok) return;
  }
  if (!deadline_.acknowledge(request.mark, now)) return;
  const bool was_doubtful = std::exchange(is_doubtful_, false);
  const duration gain = deadline_.deadline() - reported_deadline_;
  if (was_doubtful || gain >= deadline_.timeout() / report_part) report_deadline(events);
}

void session::report_deadline(event_queue& events) {
  reported_deadline_ = deadline_.deadline();
  owner_.on_deadline(reported_deadline_, events);
}

// The session is attached anew, to the same server; where the leader is wanted and this server is
// none, to the next one.
void session::finish_draining(time_point now) {
  if (!in_flight_.empty()) return;
  const bool is_known = mode_ != server_mode::unknown;
  if (ensemble_.attach == attach_to::leader && is_known && !leads(mode_)) servers_.advance();
  reconnect(now);
}

}  // namespace holdfast::zookeeper
