#include "backend/redis/layouts/retrying_node.hpp"

#include <algorithm>
#include <deque>
#include <list>
#include <utility>

#include "backend/redis/layouts/retrying_layout.hpp"
#include "backend/redis/transport/error_text.hpp"

namespace holdfast::redis {

using base::event_queue;
using namespace std::chrono_literals;

namespace {

// A client remembers so many of its ended claims, for so long. It may stay with a master for a
// third of a ttl after another one was promoted; with the default ttl that is this long.
constexpr duration ended_kept = 10s;
constexpr std::size_t ended_max = 64;

// The renewals of one request, whose keys are of one slot.
struct renewals_of_slot {
  slot_number slot = 0;
  retrying_node::request* made = nullptr;
  std::deque<std::string> owners;  // `all` has views into these
  std::vector<lock_request> all;
};

}  // namespace

retrying_node::retrying_node(retrying_layout& l, const settings& s, transport& over)
    : claims_node(l, over), settings_(s), codec_(l.codec()) {}

void retrying_node::detach() noexcept {
  orphans_.drop_all();
  for_each([&](retrying_claim& c) { stop_listening(c); });
}

retrying_reply::verdict retrying_node::subscribe(retrying_claim& c, time_point now) {
  if (!c.messages) {
    const std::string owner = home_.owner_at_server(c);
    c.messages =
        over_.subscribe(codec_.channel_of(request_of(c, owner)), c, now, codec_.kind_of_channels());
    if (listeners_++ == 0) over_.tick_by(now + probe_pause());
  }
  if (c.messages->is_active()) return retrying_reply::verdict::subscribed;
  over_.open(lane::messages, now);
  return over_.has_failed(lane::messages) ? retrying_reply::verdict::failed
                                          : retrying_reply::verdict::not_now;
}

void retrying_node::stop_listening(retrying_claim& c) noexcept {
  if (!c.messages) return;
  c.messages.reset();
  --listeners_;
}

void retrying_record::on_subscribed(time_point now, base::event_queue& events) {
  auto& c = static_cast<retrying_claim&>(*this);
  c.on([&](retrying_recipe& r) { return r.on_subscribed(now, c.store().rules()); }, now, events);
}

void retrying_record::on_unsubscribed(time_point now, base::event_queue& events) {
  auto& c = static_cast<retrying_claim&>(*this);
  c.on([&](retrying_recipe& r) { return r.on_unsubscribed(now); }, now, events);
}

void retrying_record::on_message(std::string_view, time_point now, base::event_queue& events) {
  auto& c = static_cast<retrying_claim&>(*this);
  c.on([&](retrying_recipe& r) { return r.on_message(now, c.store().rules()); }, now, events);
}

void retrying_node::send(retrying_claim& c, retrying_operation op, time_point now) {
  request& b = pool_.take(op, now);
  b.members.push_back({.whose = c.place(), .epoch = c.recipe().epoch(), .ttl = c.recipe().ttl()});
  collected_.push_back(&b);
  if (over_.is_ready(lane::commands)) return;
  over_.note_waiter(now);
  watch_outage(now);
  if (!c.recipe().is_waiter()) over_.retry_now(lane::commands, now + settings_.retry_base);
  over_.open(lane::commands, now);
}

void retrying_node::write_requests(lane purpose, request_writer& to) {
  const time_point now = env().now();
  purpose == lane::renewals ? write_renewals(to, now) : write_collected(to, now);
}

lock_request retrying_node::request_of(const retrying_claim& c,
                                       std::string_view owner) const noexcept {
  return {.key = c.key,
          .owner = owner,
          .id = c.owner_id,
          .ttl = c.recipe().ttl(),
          .mode = c.details.mode,
          .step = c.recipe().step_of_attempt(),
          .may_queue = c.recipe().is_waiter(),
          .had_place = c.had_place,
          .permits = c.details.permits,
          .total_permits = c.details.total_permits,
          .wall = env().wall(),
          .seen = c.seen,
          .renewed = c.renewed};
}

// A try begins when it is written, which may be long after it was asked for.
void retrying_node::begin_step(retrying_claim& c, retrying_operation op) {
  if (c.recipe().step_of_attempt() > 0) return;
  c.seen.clear();
  if (op == retrying_operation::try_lock && codec_.facts().owner_is_stamp) home_.renew_owner(c);
}

// What its claim has given up meanwhile is not sent at all, and what may be answered by a grant
// only where that counts.
void retrying_node::write_collected(request_writer& to, time_point now) {
  for (request* const b : std::exchange(collected_, {})) {
    const batch_member& m = b->members.front();
    retrying_claim* const c = claims_.at(m.whose);
    if (!c || c->recipe().epoch() != m.epoch) {
      pool_.give_back(*b);
      continue;
    }
    const bool may_grant =
        b->to == retrying_operation::try_lock || b->to == retrying_operation::resolve;
    if (may_grant && !over_.lanes_agree()) {
      collected_.push_back(b);
      continue;
    }
    begin_step(*c, b->to);
    codec_.append(to, b->to, request_of(*c, home_.owner_at_server(*c)));
    c->was_sent = true;
    if (may_grant && c->recipe().is_waiter() && c->queueing_tries < 2) ++c->queueing_tries;
    to.expect(*b, 1, now);
  }
}

void retrying_node::on_reply(request& b, const value& v, const reply_context& context) {
  if (b.to == retrying_operation::renew) return answer_renewals(b, v, context);
  const batch_member m = b.members.front();
  retrying_reply r;
  r.to = b.to;
  r.epoch = m.epoch;
  r.ttl = m.ttl;
  r.sent = context.sent;
  r.final = over_.no_older_connection_runs();
  pool_.give_back(b);
  retrying_claim* const c = claims_.at(m.whose);
  const bool is_awaited = c && c->recipe().epoch() == m.epoch;
  const std::string owner = is_awaited ? home_.owner_at_server(*c) : std::string();
  r = codec_.read(v, is_awaited ? request_of(*c, owner) : lock_request(), r);
  r.rest = context.left_of(r.rest);
  if (is_awaited && r.what == retrying_reply::verdict::next_step) c->seen = v.text();
  if (is_awaited && r.what == retrying_reply::verdict::busy) c->had_place = c->recipe().is_waiter();
  if (is_awaited && r.what == retrying_reply::verdict::granted && codec_.facts().owner_is_stamp)
    r.sent = c->owner_since;  // its lease is as old as its stamp
  const bool is_error = v.is(value::kind::error);
  std::string text = is_error ? explain(v.text(), codec_.facts().own_errors) : std::string();
  if (r.what == retrying_reply::verdict::not_now) {
    note_refusal(text, context.now);
  } else if (!is_error) {
    over_.note_accepted(context.now);
  }
  if (c && has_left(*c) && r.what == retrying_reply::verdict::granted)
    return cut(*c, m.epoch, context);
  if (c) c->on_reply(r, std::move(text), context.now, context.events);
}

void retrying_node::cut(retrying_claim& c, std::uint32_t epoch, const reply_context& context) {
  const auto end = [&](retrying_recipe& r) {
    return r.on_cut(epoch, context.now, settings_.rules);
  };
  c.on(end, context.now, context.events);
}

void retrying_node::on_script_missing(request& b, const reply_context&) {
  if (b.to == retrying_operation::renew) {
    for (const batch_member& m : b.members)
      if (retrying_claim* const c = claims_.at(m.whose)) renew(*c);
    return end_renewals(b);
  }
  collected_.push_back(&b);
}

void retrying_node::on_redirected(request& b, const redirection& to, const reply_context& context) {
  for (const batch_member& m : b.members) {
    const retrying_claim* const c = claims_.at(m.whose);
    if (!c || c->recipe().epoch() != m.epoch) continue;
    home_.note_redirected(c->key, over_, to, context.now);
    redirected_.add(*c, b.to, context.now);
  }
  if (to.why != not_executed::moved) note_refusal(explain(to.error), context.now);
  b.to == retrying_operation::renew ? end_renewals(b) : pool_.give_back(b);
}

void retrying_node::hand_over_unsent(const retrying_claim& c, time_point now) {
  std::vector<request*> its;
  std::erase_if(collected_, [&](request* b) {
    const bool is_its = claims_.at(b->members.front().whose) == &c;
    if (is_its) its.push_back(b);
    return is_its;
  });
  for (request* b : its) {
    retrying_claim* const requester = claims_.at(b->members.front().whose);
    if (requester->recipe().epoch() == b->members.front().epoch)
      requester->node->send(*requester, b->to, now);
    pool_.give_back(*b);
  }
}

// What is held is confirmed, and what waits tries: its messages came from the other server.
void retrying_node::adopt(retrying_claim& c, time_point now, event_queue& events) {
  confirm_at_new_server(c, now, events);
  if (c.messages) c.on_unsubscribed(now, events);
}

void retrying_node::on_cut(request& b, const reply_context& context) {
  if (b.to == retrying_operation::renew) return end_renewals(b);
  const batch_member m = b.members.front();
  pool_.give_back(b);
  if (retrying_claim* const c = claims_.at(m.whose)) cut(*c, m.epoch, context);
}

void retrying_node::on_ready(lane purpose, time_point now, event_queue& events) {
  if (purpose != lane::commands) return;
  for (const script* const s : codec_.facts().loaded) over_.load_script(*s, now);
  if (over_.has_moved() && !base::planted(base::mutant::copied_place_kept))
    withdraw_copied_places(now);
  resume(now, events);
  if (renewals_.goes_with_commands()) over_.tick_by(now);
}

void retrying_node::on_down(lane purpose, const base::failure& why, loss kind, time_point now,
                            event_queue& events) {
  watch_outage(now);
  if (purpose == lane::renewals && renewals_.goes_with_commands()) over_.tick_by(now);
  if (purpose == lane::messages) poll_meanwhile(now, events);
  if (purpose != lane::commands) return;
  // Only a corrected URL helps where the server rejects the client. Where nothing can be connected
  // to, one attempt has been made.
  const auto waits = [](const retrying_claim& c) { return c.recipe().waits(); };
  const auto is_attempt = [](const retrying_claim& c) { return c.recipe().is_attempt(); };
  if (kind == loss::refused) give_up(waits, why, now, events);
  if (kind == loss::not_reached) give_up(is_attempt, why, now, events);
}

// Messages get lost from here on; each claim is notified once they are subscribed to again.
void retrying_node::poll_meanwhile(time_point now, event_queue& events) {
  for_each([&](retrying_claim& c) {
    if (c.messages) c.on_unsubscribed(now, events);
  });
}

void retrying_node::on_tick(time_point now, event_queue& events) {
  redirected_.tick(claims_, now, [&](retrying_claim& c, retrying_operation op) {
    op == retrying_operation::renew ? c.node->renew(c) : c.node->send(c, op, now);
  });
  end_waits(now, events);
  wake_due(now, events);
  probe_messages(now);
  tick_renewals_and_orphans(now);
}

// While claims wait for messages, a dead connection for them is found out by the question that it
// does not answer.
void retrying_node::probe_messages(time_point now) {
  if (listeners_ == 0) return;
  over_.tick_by(now + probe_pause());
  over_.want_sample(probe_pause(), now);
}

void retrying_node::write_renewals(request_writer& to, time_point now) {
  while (renewals_.may_write()) {
    std::list<renewals_of_slot> those;
    renewals_.take_batch(claims_, [&](retrying_claim& c) {
      if (!c.recipe().is_held()) return false;
      const auto is_its = [&](const renewals_of_slot& r) { return r.slot == c.slot; };
      auto found = std::ranges::find_if(those, is_its);
      if (found == those.end()) {
        found = those.emplace(those.end());
        found->slot = c.slot;
        found->made = &pool_.take(retrying_operation::renew, now);
      }
      renewals_of_slot& r = *found;
      r.owners.push_back(home_.owner_at_server(c));
      r.all.push_back(request_of(c, r.owners.back()));
      if (codec_.facts().owner_is_stamp)
        c.renewed = codec_.stamp_at(r.all.back().wall, r.all.back().ttl);
      r.made->members.push_back({.whose = c.place(),
                                 .epoch = c.recipe().epoch(),
                                 .ticket = c.ticket(),
                                 .ttl = c.recipe().ttl()});
      return true;
    });
    for (const renewals_of_slot& r : those) {
      codec_.append_renewals(to, r.all);
      renewals_.on_sent();
      to.expect(*r.made, codec_.renewal_replies(r.all.size()), now, attended::in_background);
    }
  }
}

void retrying_node::answer_renewals(request& b, const value& v, const reply_context& context) {
  if (v.is(value::kind::error)) over_.note_refused_request(context.now);
  for (std::size_t i = 0; i < b.members.size(); ++i) {
    const batch_member& m = b.members[i];
    retrying_claim* const c = claims_.at(m.whose);
    if (!c || has_left(*c)) continue;
    retrying_reply r;
    r.to = retrying_operation::renew;
    r.epoch = m.epoch;
    r.ticket = m.ticket;
    r.ttl = m.ttl;
    r.sent = context.sent;
    r = codec_.read_renewal(v, i, r);
    const bool is_done = r.what == retrying_reply::verdict::done && r.epoch == c->recipe().epoch();
    if (is_done && c->renewed != std::chrono::microseconds::zero())
      c->owner_id.drawn = std::exchange(c->renewed, {});
    c->on_reply(r, {}, context.now, context.events);
  }
  end_renewals(b);
}

void retrying_node::end_renewals(request& b) noexcept {
  pool_.give_back(b);
  renewals_.on_end();
}

void retrying_node::note_ended(const retrying_claim& c, time_point now) {
  const bool has_queued = codec_.facts().rules.has_queue && c.queueing_tries > 0;
  const bool is_granted_at_once = c.queueing_tries == 1 && c.recipe().granted().number != 0;
  if (!c.owner_id || !has_queued || is_granted_at_once) return;
  const time_point end = base::saturating_add(now, c.recipe().ttl() + claims::late_request_max);
  ended_.push_back({now, retrying_orphan(*this, c, end)});
  ended_.back().owner.only_place = true;
  while (ended_.size() > ended_max || now - ended_.front().at > ended_kept) ended_.pop_front();
}

// The server's copy of a queue may be from before these claims ended at the former server. There
// other waiters would wait behind such a place for its window (docs/backends/redisson.md). A copied
// lock ends with its lease: the former server may have granted it again, to a holder that does not
// know yet of the failover.
void retrying_node::withdraw_copied_places(time_point now) {
  for (const ended_owner& e : ended_) over_.tick_by(orphans_.add(now, *this, e.owner));
}

retrying_orphan::retrying_orphan(retrying_node& n, const retrying_orphan& o)
    : server_orphan(n, o.until, o.most),
      key(o.key),
      owner(o.owner),
      only_place(o.only_place),
      id(o.id),
      details(o.details),
      ttl(o.ttl) {}

retrying_orphan::retrying_orphan(retrying_node& n, const retrying_claim& c, time_point end)
    : server_orphan(n, end, n.home().codec().facts().rules.queue_heartbeat),
      key(c.key),
      owner(n.home().owner_at_server(c)),
      id(c.owner_id),
      details(c.details),
      ttl(c.recipe().ttl()) {}

claims::withdrawal retrying_orphan::withdraw(time_point now) {
  step = 0;
  return send(now);
}

lock_request retrying_orphan::request() const {
  return {.key = key,
          .owner = owner,
          .id = id,
          .ttl = ttl,
          .mode = details.mode,
          .step = step,
          .only_place = only_place,
          .permits = details.permits,
          .total_permits = details.total_permits,
          .wall = node.home().env().wall(),
          .seen = seen};
}

claims::withdrawal retrying_orphan::send(time_point now) {
  return submit(now, [&](request_writer& w) {
    node.home().codec().append(w, retrying_operation::withdraw, request());
  });
}

claims::withdrawal retrying_orphan::take(const value& v, time_point now) {
  retrying_reply r;
  r.to = retrying_operation::withdraw;
  r = node.home().codec().read(v, request(), r);
  if (r.what != retrying_reply::verdict::next_step) return withdrawal::done;
  ++step;
  seen = v.text();
  return send(now);
}

}  // namespace holdfast::redis
