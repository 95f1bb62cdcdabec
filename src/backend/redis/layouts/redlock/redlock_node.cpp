#include "backend/redis/layouts/redlock/redlock_node.hpp"

#include <algorithm>
#include <utility>

#include "backend/redis/layouts/redlock/redlock_layout.hpp"
#include "backend/redis/transport/error_text.hpp"
#include "base/mutant.hpp"

namespace holdfast::redis {

using base::event_queue;
using base::planted;

// Asks the server what it is judged by: INFO, and its record.
class redlock_node::question final : public reply_handler {
 public:
  explicit question(redlock_node& n) noexcept : home_(n) {}

  void ask(time_point now) {
    if (awaited_ > 0 || !home_.over_.is_ready(lane::commands)) return;
    awaited_ = 2;
    asks_statistics_ = false;
    why_ = {};
    reported_ = {};
    reported_.asked_at = now;
    home_.over_.submit(*this, now, [](request_writer& w) { w.plain("INFO"); });
    query_record(now);
  }

 private:
  void query_record(time_point now) {
    home_.over_.submit(*this, now, [&](request_writer& w) {
      home_.home_.codec().append_record_query(w, home_.over_.server_stamp());
    });
  }
  void query_statistics(time_point now) {
    ++awaited_;
    asks_statistics_ = true;
    home_.over_.submit(*this, now, [](request_writer& w) { w.plain("INFO", "commandstats"); });
  }
  void on_reply(const value& v, const reply_context& c) override {
    if (v.is(value::kind::error)) {
      const error_meaning* const m = meaning_of(v.text());
      why_ = {m ? m->why : errc::unavailable, explain(v.text())};
    } else if (v.is(value::kind::text)) {
      asks_statistics_ ? redlock::read_statistics(v.text(), reported_)
                       : redlock::read_info(v.text(), reported_);
    } else {
      reported_.record = redlock::read_record(v);
      if (!reported_.record.number) query_statistics(c.now);
    }
    if (--awaited_ > 0) return;
    home_.on_looked(reported_, std::move(why_), c.now);
    home_.ask_undecided(c);
  }
  void on_not_executed(not_executed why, const value& v, const reply_context& c) override {
    why == not_executed::script_missing ? query_record(c.now) : on_reply(v, c);
  }
  void on_cut(const reply_context&) override { awaited_ = 0; }

  redlock_node& home_;
  redlock::server_state reported_;
  base::failure why_;
  int awaited_ = 0;
  bool asks_statistics_ = false;
};

redlock_node::redlock_node(redlock_layout& l, const settings& s, transport& over,
                           std::uint8_t server)
    : layout_node(over),
      home_(l),
      settings_(s),
      server_(server),
      question_(std::make_unique<question>(*this)) {}

redlock_node::~redlock_node() = default;

std::string redlock_node::address() const {
  return base::text_of(settings_.servers[server_].where);
}

std::string redlock_node::why_not() const {
  if (!over_.is_ready(lane::commands) || over_.is_unavailable()) {
    const seam::connection_status known = over_.read_status();
    return known.trouble.code ? known.trouble.text : "no connection yet";
  }
  if (!is_known_) return "it has not reported yet whether it may vote";
  return fitness_.why_not;
}

base::failure redlock_node::fault() const {
  if (const redlock_node* const twin = home_.twin_of(*this))
    return {errc::bad_url,
            address() + " and " + twin->address() + " are one server; name each server once"};
  // A missing right is an error; every other refusal may end.
  if (is_refused()) return {errc::refused, address() + " does not vote: " + refusal_.text};
  return {};
}

bool redlock_node::ask(redlock_round::request& q, time_point now) {
  if (over_.is_ready(lane::commands) && !is_known_) {
    undecided_.push_back(&q);
    return true;
  }
  if (!may_vote()) {
    if (!over_.is_ready(lane::commands)) over_.note_waiter(now);
    over_.open(lane::commands, now);
    return false;
  }
  write(q, now);
  return true;
}

lock_request redlock_node::request_of(const redlock_round& r) const noexcept {
  return {.key = r.key, .owner = r.owner, .ttl = r.ttl, .seen = state_.record.begun_at};
}

void redlock_node::write(redlock_round::request& q, time_point now) {
  const redlock_round& r = *q.round;
  q.was_sent = true;
  over_.write_commands([&](request_writer& w) {
    home_.codec().append(w, r.to, request_of(r));
    w.expect(q, 1, now);
  });
}

void redlock_node::raise(redlock_round::request& q, time_point now) {
  const redlock_round& r = *q.round;
  over_.write_commands([&](request_writer& w) {
    home_.codec().append_raise(w, {.key = r.key, .owner = r.owner}, r.number);
    w.expect(q, 1, now);
  });
}

bool redlock_node::renew(redlock_round::request& q, time_point now) {
  const bool is_itself = is_known_ && !home_.twin_of(*this);
  if (!over_.is_ready(lane::commands) || !is_itself) return false;
  over_.open(lane::renewals, now);
  if (!over_.is_ready(lane::renewals) && over_.has_failed(lane::renewals)) {
    write(q, now);
    over_.tick_by(now);
  } else {
    renewals_.push_back(&q);
    over_.request_flush(lane::renewals);
  }
  return true;
}

void redlock_node::restore(const redlock_round& r, time_point now) {
  over_.submit(over_.reply_discarder(), now, [&](request_writer& w) {
    home_.codec().append(w, retrying_operation::try_lock, request_of(r));
  });
}

void redlock_node::write_requests(lane purpose, request_writer& to) {
  if (purpose != lane::renewals) return;
  const time_point now = home_.env().now();
  for (redlock_round::request* const q : std::exchange(renewals_, {})) {
    const redlock_round& r = *q->round;
    home_.codec().append(to, r.to, request_of(r));
    to.expect(*q, 1, now, attended::in_background);
  }
}

void redlock_node::withdraw(std::string_view key, std::string_view owner, time_point end,
                            time_point now) {
  over_.tick_by(orphans_.add(now, *this, key, owner, end));
}

void redlock_node::look(time_point now) {
  look_at_ = base::never;
  question_->ask(now);
}

void redlock_node::look_by(time_point t) {
  look_at_ = std::min(look_at_, t);
  over_.tick_by(look_at_);
}

void redlock_node::on_looked(const redlock::server_state& reported, base::failure why,
                             time_point now) {
  state_ = reported;
  state_.answered_at = now;
  refusal_ = std::move(why);
  is_known_ = true;
  judge(now);
  home_.on_looked(now);
}

void redlock_node::judge(time_point now) {
  fitness_ = redlock::judge(state_, settings_.max_ttl);
  const std::string copy = text_of_copy();
  has_copy_ = !copy.empty();
  const base::failure fault = this->fault();
  const std::string& reason = fault.code ? fault.text : has_copy_ ? copy : refusal_.text;
  if (!reason.empty()) fitness_ = {reason, redlock::look_again};
  if (fitness_.is_fit()) {
    over_.note_accepted(now);
  } else {
    over_.note_refusal(fitness_.why_not, now);
    look_by(base::saturating_add(now, fitness_.again));
  }
}

// Empty: its record is its own.
std::string redlock_node::text_of_copy() const {
  const auto text = [](const std::string& subject, const std::string& where) {
    return subject + " and has lost its own locks; delete the key holdfast:redlock at " + where +
           ", which votes again after max-ttl";
  };
  if (const redlock_node* const other = home_.node_with_record_of(*this)) {
    const std::string both = address() + " has the record of " + other->address() + ": ";
    return other->state_.is_of_other_process()
               ? both + text("one of them was a replica of the other", "that one")
               : both + text("it was a replica of it", address());
  }
  if (!state_.was_replica() || planted(base::mutant::former_replica_votes)) return {};
  return address() +
         " has the record of another server: " + text("it was a replica of it", address());
}

// Attempts that came before it was known whether this server may vote.
void redlock_node::ask_undecided(const reply_context& c) {
  for (redlock_round::request* const q : std::exchange(undecided_, {})) {
    const bool is_over = q->round->now_in == redlock_round::phase::decided;
    is_over || !may_vote() ? home_.on_no_vote(*q, c) : write(*q, c.now);
  }
}

void redlock_node::begin_record(std::int64_t number, time_point now) {
  if (is_beginning_ || now < begin_not_before_) return;
  is_beginning_ = over_.submit(begun_reply_, now, [&](request_writer& w) {
    home_.codec().append_begin(w, number, settings_.max_ttl, state_);
  });
}

// The server is looked at again. One that refuses it, as with a full disk, is left alone for a
// while.
void redlock_node::on_begun(const value& v, const reply_context& c) {
  is_beginning_ = false;
  if (!v.is(value::kind::error)) return look(c.now);
  begin_not_before_ = c.now + redlock::look_again;
  on_refused(v.text(), c.now);
  look_by(begin_not_before_);
}

void redlock_node::on_refused(std::string_view error, time_point now) {
  over_.note_refusal(explain(error), now);
}

void redlock_node::on_ready(lane purpose, time_point now, event_queue&) {
  if (purpose != lane::commands) return;
  is_known_ = false;
  for (const script* const s : home_.codec().facts().loaded) over_.load_script(*s, now);
  orphans_.resend_all(now);
  look(now);
}

void redlock_node::on_down(lane purpose, const base::failure&, loss, time_point now,
                           event_queue& events) {
  if (purpose == lane::commands) {
    is_known_ = false;
    ask_undecided({now, now, events});
  }
  if (purpose == lane::messages) home_.on_messages_lost(now, events);
  if (purpose != lane::renewals) return;
  for (redlock_round::request* const q : std::exchange(renewals_, {}))
    home_.on_no_vote(*q, {now, now, events});
}

void redlock_node::on_tick(time_point now, event_queue& events) {
  if (look_at_ <= now) look(now);
  over_.tick_by(look_at_);
  over_.tick_by(orphans_.tick(now));
  if (server_ == 0) home_.on_tick(now, events);
}

redlock_orphan::redlock_orphan(redlock_node& n, std::string_view of_lock, std::string_view of_owner,
                               time_point end)
    : server_orphan(n, end), key(of_lock), owner(of_owner) {}

claims::withdrawal redlock_orphan::withdraw(time_point now) {
  return submit(now, [&](request_writer& w) {
    node.home().codec().append(w, retrying_operation::withdraw, {.key = key, .owner = owner});
  });
}

}  // namespace holdfast::redis
