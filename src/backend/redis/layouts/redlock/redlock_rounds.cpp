// The layout's part of redlock_round.hpp: what is sent in a round, and what its votes decide.
#include <algorithm>
#include <functional>
#include <utility>

#include "backend/redis/layouts/redlock/redlock_layout.hpp"
#include "base/mutant.hpp"

namespace holdfast::redis {

using base::event_queue;
using base::mutant;
using base::planted;
using namespace std::chrono_literals;

namespace {

constexpr duration rest_max_of_first = 500ms;  // what one server says is looked at soon again
constexpr duration patience_min = 200us;       // for the servers behind the majority

}  // namespace

void redlock_round::request::on_reply(const value& v, const reply_context& c) {
  round->home_.on_vote(*this, v, c);
}

void redlock_round::request::on_not_executed(not_executed why, const value& v,
                                             const reply_context& c) {
  why == not_executed::script_missing ? round->home_.send_again(*this, c) : on_reply(v, c);
}

void redlock_round::request::on_cut(const reply_context& c) { round->home_.on_no_vote(*this, c); }

redlock_round& redlock_layout::take_round(const redlock_claim& c, retrying_operation op,
                                          time_point now) {
  if (idle_rounds_.empty()) {
    rounds_.push_back(std::make_unique<redlock_round>(*this));
    idle_rounds_.reserve(rounds_.size());
    idle_rounds_.push_back(rounds_.back().get());
  }
  redlock_round& r = *idle_rounds_.back();
  idle_rounds_.pop_back();
  r.begin(op, servers_.size(), now);
  r.whose = c.place();
  r.epoch = c.recipe().epoch();
  r.ticket = c.ticket();
  r.ttl = c.recipe().ttl();
  r.key = c.key;
  r.owner = c.owner_text;
  return r;
}

void redlock_layout::give_back_if_over(redlock_round& r) noexcept {
  if (r.is_over()) idle_rounds_.push_back(&r);
}

void redlock_layout::wait_until(redlock_round& r, time_point t) {
  overdue_.set(r, t);
  reactor_.wake_by(t);
}

std::optional<retrying_reply> redlock_layout::attempt(redlock_claim& c, time_point now) {
  if (c.asked_at != 0 && !planted(mutant::owner_id_reused)) renew_owner(c);
  redlock_round& r = take_round(c, retrying_operation::try_lock, now);
  // A single attempt asks all: a release that is confirmed may not have reached the first server.
  const bool may_lead = c.leads > 0 && c.recipe().is_waiter();
  if (!may_lead || std::exchange(c.asks_all, false) || !ask_first(r, now)) ask_all(r, now);
  if (c.leads > 0) --c.leads;
  return decide_or_wait(r, settings_.node_timeout, now);
}

// The same one for all clients, as long as it may vote.
bool redlock_layout::ask_first(redlock_round& r, time_point now) {
  const std::size_t first = std::hash<std::string_view>{}(r.key) % servers_.size();
  for (std::size_t i = 0; i < servers_.size(); ++i) {
    redlock_node& n = *servers_[(first + i) % servers_.size()];
    if (!n.may_vote() || !n.ask(r.requests[n.server()], now)) continue;
    ++r.in_flight;
    note_asked(r, n.server());
    r.lead = n.server();
    r.now_in = redlock_round::phase::leading;
    return true;
  }
  return false;
}

void redlock_layout::note_asked(const redlock_round& r, std::size_t server) noexcept {
  redlock_claim* const c = claims_.at(r.whose);
  if (c && c->owner_text == r.owner)
    c->asked_at = static_cast<std::uint16_t>(c->asked_at | bit_of(server));
}

void redlock_layout::ask_all(redlock_round& r, time_point now) {
  r.now_in = redlock_round::phase::voting;
  for (redlock_node* const n : servers_) {
    redlock_round::request& q = r.requests[n->server()];
    if (q.was_sent) continue;  // it was asked first
    if (n->ask(q, now)) {
      ++r.in_flight;
      note_asked(r, n->server());
    } else {
      n->retry_now(now + settings_.retry_base);
      r.votes[n->server()].what = vote::missing;
    }
  }
}

// Where an attempt was never answered, it may still arrive: the owner is withdrawn until that is
// impossible.
std::optional<retrying_reply> redlock_layout::leave(redlock_claim& c, retrying_operation op,
                                                    time_point now) {
  redlock_round& r = take_round(c, op, now);
  if (c.asked_at == 0 ||
      (op == retrying_operation::withdraw && planted(mutant::withdrawal_dropped))) {
    r.now_in = redlock_round::phase::decided;
    give_back_if_over(r);
    return reply_to(r, retrying_reply::verdict::done);  // no server has ever seen this owner
  }
  for (redlock_node* const n : servers_) {
    const std::size_t i = n->server();
    const bool may_arrive = (c.unanswered_at & bit_of(i)) != 0;
    if ((c.asked_at & bit_of(i)) == 0) {
      r.votes[i].what = vote::no;  // it has never seen this owner
    } else if (!may_arrive && n->over().is_ready(lane::commands)) {
      n->write(r.requests[i], now);
      ++r.in_flight;
    } else {
      r.votes[i].what = vote::missing;
      withdraw_at(i, r, now);
    }
  }
  return decide_or_wait(r, settings_.node_timeout, now);
}

void redlock_layout::renew(redlock_claim& c, time_point now) {
  redlock_round& r = take_round(c, retrying_operation::renew, now);
  for (redlock_node* const n : servers_) {
    if (n->renew(r.requests[n->server()], now)) {
      ++r.in_flight;
    } else {
      r.votes[n->server()].what = vote::missing;
    }
  }
  decide_or_wait(r, r.ttl, now);  // a late answer is as good
}

std::optional<retrying_reply> redlock_layout::decide_or_wait(redlock_round& r, duration limit,
                                                             time_point now) {
  std::optional<retrying_reply> answer = decide(r, now);
  if (!answer) wait_until(r, now + limit);
  give_back_if_over(r);
  return answer;
}

void redlock_layout::on_vote(redlock_round::request& q, const value& v, const reply_context& c) {
  redlock_round& r = *q.round;
  const bool proves_nothing = c.is_doubted || (r.to == retrying_operation::renew && !c.lanes_agree);
  const bool is_refused = v.is(value::kind::error);
  redlock_node& n = *servers_[q.server];
  if (is_refused) {
    n.on_refused(v.text(), c.now);
  } else if (n.may_vote()) {
    n.over().note_accepted(c.now);
  }
  if (r.is_leaving() && (c.is_doubted || is_refused)) return on_no_vote(q, c);
  --r.in_flight;
  ballot& b = r.votes[q.server];
  if (b.what == vote::awaited) {
    const bool is_attempt = r.is_attempt() && r.now_in != redlock_round::phase::raising;
    const ballot reported = is_attempt ? redlock::read_attempt(v) : redlock::read_comparison(v);
    const bool has_no_record = is_attempt && !is_refused && reported.what == vote::missing;
    if (has_no_record) n.look(c.now);
    b = proves_nothing ? ballot{.what = vote::missing} : reported;
    if (r.now_in == redlock_round::phase::raising && b.what == vote::yes) b.number = r.number;
    r.notified_others = r.notified_others || (r.is_leaving() && v.integer() == 3);
    if (r.now_in != redlock_round::phase::decided) {
      conclude(r, c.now, c.events);
    } else if (r.is_confirmed) {
      restore(r, c.now);
    }
  }
  give_back_if_over(r);
}

void redlock_layout::on_no_vote(redlock_round::request& q, const reply_context& c) {
  redlock_round& r = *q.round;
  --r.in_flight;
  if (r.is_leaving()) withdraw_at(q.server, r, c.now);
  redlock_claim* const whose = claims_.at(r.whose);
  if (r.is_attempt() && whose && whose->owner_text == r.owner)
    whose->unanswered_at = static_cast<std::uint16_t>(whose->unanswered_at | bit_of(q.server));
  ballot& b = r.votes[q.server];
  if (r.now_in != redlock_round::phase::decided && b.what == vote::awaited) {
    b.what = vote::missing;
    conclude(r, c.now, c.events);
  }
  give_back_if_over(r);
}

void redlock_layout::send_again(redlock_round::request& q, const reply_context& c) {
  redlock_round& r = *q.round;
  redlock_node& n = *servers_[q.server];
  // A withdrawal that was sent meanwhile has arrived before this attempt would.
  const bool is_withdrawn = r.is_attempt() && !is_awaited(r);
  const bool is_wanted =
      r.is_leaving() || (r.now_in != redlock_round::phase::decided && !is_withdrawn);
  if (!is_wanted || !n.over().is_ready(lane::commands)) return on_no_vote(q, c);
  if (r.to == retrying_operation::renew) {
    if (!n.renew(q, c.now)) on_no_vote(q, c);
    return;
  }
  r.now_in == redlock_round::phase::raising ? n.raise(q, c.now) : n.write(q, c.now);
}

void redlock_layout::conclude(redlock_round& r, time_point now, event_queue& events) {
  const std::optional<retrying_reply> answer = decide(r, now);
  if (!answer) return;
  r.is_confirmed =
      r.to == retrying_operation::renew && answer->what == retrying_reply::verdict::done;
  if (r.is_confirmed) restore(r, now);
  redlock_claim* const c = claims_.at(r.whose);
  if (!c) return;
  const bool is_granted = answer->what == retrying_reply::verdict::granted;
  if (is_granted || answer->what == retrying_reply::verdict::busy) note_attempt(*c, is_granted);
  std::string text;
  if (answer->what == retrying_reply::verdict::failed) text = text_of_servers();
  c->on_reply(*answer, std::move(text), now, events);
}

// A server that had not voted for the grant, or has lost the lock, gets it while a majority has
// just confirmed that it is held: the next failure of a server does not end the lease.
void redlock_layout::restore(redlock_round& r, time_point now) {
  const redlock_claim* const c = claims_.at(r.whose);
  if (!c || !c->recipe().is_held() || c->owner_text != r.owner) return;
  for (redlock_node* const n : servers_) {
    ballot& b = r.votes[n->server()];
    const bool lacks_it = b.what == vote::no && b.holder == 0;
    if (!lacks_it || !n->may_vote() || planted(mutant::lock_not_restored)) continue;
    n->restore(r, now);
    note_asked(r, n->server());
    b.what = vote::missing;  // it is asked once
  }
}

// The rest of the time is over, or that for servers behind the majority.
void redlock_layout::on_overdue(redlock_round& r, time_point now, event_queue& events) {
  if (r.now_in == redlock_round::phase::decided) return;
  const bool has_majority =
      r.now_in == redlock_round::phase::voting && r.is_attempt() && r.votes.is_won();
  if (r.now_in == redlock_round::phase::leading) {
    r.votes[r.lead].what = vote::missing;
  } else if (!has_majority) {
    for (std::size_t i = 0; i < servers_.size(); ++i)
      if (r.votes[i].what == vote::awaited) r.votes[i].what = vote::missing;
  }
  conclude(r, now, events);
  give_back_if_over(r);
}

std::optional<retrying_reply> redlock_layout::decide(redlock_round& r, time_point now) {
  std::optional<retrying_reply> out;
  const tally& v = r.votes;
  if (r.now_in == redlock_round::phase::leading) {
    out = decide_leading(r, now);
  } else if (r.now_in == redlock_round::phase::raising) {
    out = decide_raising(r, now);
  } else if (r.is_attempt()) {
    out = decide_attempt(r, now);
  } else if (r.to == retrying_operation::withdraw ? v.has_quorum() : v.is_won()) {
    out = reply_to(r, retrying_reply::verdict::done);
  } else if (v.is_denied()) {
    out = reply_to(r, retrying_reply::verdict::not_owner);
    if (v.is_nobodys()) out->why = errc::not_held;
  } else if (v.count(vote::awaited) == 0) {
    out = reply_to(r, retrying_reply::verdict::not_now);
  }
  if (!out) return out;
  r.now_in = redlock_round::phase::decided;
  overdue_.set(r, base::never);
  return out;
}

// The claim may have been withdrawn since, from all servers.
bool redlock_layout::is_awaited(const redlock_round& r) {
  const redlock_claim* const c = claims_.at(r.whose);
  return c && c->owner_text == r.owner && c->recipe().epoch() == r.epoch;
}

// A claim that has not got the first server leaves the others to the claim that has.
std::optional<retrying_reply> redlock_layout::decide_leading(redlock_round& r, time_point now) {
  const ballot& first = r.votes[r.lead];
  if (first.what == vote::awaited) return {};
  if (first.what == vote::no) {
    retrying_reply out = reply_to(r, retrying_reply::verdict::busy);
    out.rest = std::min(first.rest, rest_max_of_first);
    if (redlock_claim* const c = claims_.at(r.whose))
      c->asks_all = std::exchange(c->refused_by, first.holder) == first.holder;
    return out;
  }
  if (!is_awaited(r)) return reply_to(r, retrying_reply::verdict::not_now);
  ask_all(r, now);
  wait_until(r, now + settings_.node_timeout);
  return decide_attempt(r, now);
}

std::optional<retrying_reply> redlock_layout::decide_attempt(redlock_round& r, time_point now) {
  const tally& v = r.votes;
  if (!v.is_won()) {
    // A majority of answers tells how long the lock is going to be busy.
    const bool is_known = v.has_quorum() || v.count(vote::awaited) == 0;
    return v.is_lost() && is_known ? std::optional(fail(r, now)) : std::nullopt;
  }
  const std::int64_t number = v.number();
  if (v.has_majority_at(number) || planted(mutant::second_phase_missing)) {
    retrying_reply out = reply_to(r, retrying_reply::verdict::granted);
    out.number = number;
    return out;
  }
  if (v.count(vote::awaited) > 0 && now < r.patient_until) {
    if (r.patient_until != base::never) return {};
    r.patient_until = now + std::max<duration>(now - r.sent, patience_min);
    wait_until(r, r.patient_until);
    return {};
  }
  raise(r, now);
  return decide_raising(r, now);
}

// Only servers that have answered take part: one that is late may have set the lock after a later
// grant.
void redlock_layout::raise(redlock_round& r, time_point now) {
  r.now_in = redlock_round::phase::raising;
  r.number = r.votes.number();
  r.votes.begin_raising(r.number);
  for (std::size_t i = 0; i < servers_.size(); ++i) {
    ballot& b = r.votes[i];
    if (b.what != vote::yes || b.number >= r.number) continue;
    if (servers_[i]->may_vote()) {
      b.what = vote::awaited;
      servers_[i]->raise(r.requests[i], now);
      ++r.in_flight;
    } else {
      b.what = vote::missing;
    }
  }
  wait_until(r, now + settings_.node_timeout);
}

std::optional<retrying_reply> redlock_layout::decide_raising(redlock_round& r, time_point now) {
  const std::size_t reached = r.votes.count_at(r.number);
  if (reached >= majority()) {
    retrying_reply out = reply_to(r, retrying_reply::verdict::granted);
    out.number = r.number;
    return out;
  }
  if (reached + r.votes.count(vote::awaited) < majority()) return fail(r, now);
  return {};
}

retrying_reply redlock_layout::fail(redlock_round& r, time_point now) {
  withdraw_attempt(r, now);
  redlock_claim* const c = claims_.at(r.whose);
  retrying_reply out = reply_to(r, retrying_reply::verdict::not_now);
  if (r.votes.has_quorum()) {
    out.what = retrying_reply::verdict::busy;
    const bool is_split = c && !r.votes.may_be_held();
    out.rest = is_split ? random_pause(*c) : r.votes.rest();
  } else if (c && c->recipe().is_attempt()) {
    out.what = retrying_reply::verdict::failed;
    out.why = errc::no_quorum;
  }
  return out;
}

// Deletes what this attempt has set or may set, also at servers that have not answered.
void redlock_layout::withdraw_attempt(const redlock_round& r, time_point now) {
  for (std::size_t i = 0; i < servers_.size(); ++i) {
    const bool may_have_it = r.requests[i].was_sent && r.votes[i].what != vote::no;
    if (may_have_it && !planted(mutant::partial_vote_kept)) withdraw_at(i, r, now);
  }
}

void redlock_layout::withdraw_at(std::size_t server, const redlock_round& r, time_point now) {
  const time_point end = base::saturating_add(now, r.ttl + claims::late_request_max);
  servers_[server]->withdraw(r.key, r.owner, end, now);
}

retrying_reply redlock_layout::reply_to(const redlock_round& r,
                                        retrying_reply::verdict result) const noexcept {
  retrying_reply out;
  out.to = r.to;
  out.what = result;
  out.epoch = r.epoch;
  out.ticket = r.ticket;
  out.ttl = r.ttl;
  out.sent = r.sent;
  out.notified_others = r.notified_others;
  return out;
}

}  // namespace holdfast::redis
