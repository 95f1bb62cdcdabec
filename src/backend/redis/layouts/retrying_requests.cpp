// The side towards the server: what is written, what its replies mean, connections that come and
// go.
#include <algorithm>
#include <utility>

#include "backend/redis/layouts/retrying_layout.hpp"
#include "backend/redis/transport/error_text.hpp"

namespace holdfast::redis {

using core::event_queue;

void retrying_layout::write_requests(transport&, lane what, request_writer& to) {
  const time_point now = env().now();
  what == lane::renewals ? write_renewals(to, now) : write_collected(to, now);
}

lock_request retrying_layout::request_of(const retrying_claim& c,
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
void retrying_layout::begin_step(retrying_claim& c, retrying_operation what) {
  if (c.recipe().step_of_attempt() > 0) return;
  c.seen.clear();
  if (what == retrying_operation::try_lock && codec_->owner_is_stamp()) renew_owner(c);
}

// What its claim has given up meanwhile is not sent at all.
void retrying_layout::write_collected(request_writer& to, time_point now) {
  for (request* const b : std::exchange(collected_, {})) {
    const batch_member& m = b->members.front();
    retrying_claim* const c = claims_.at(m.whose);
    if (!c || c->recipe().epoch() != m.epoch) {
      pool_.give_back(*b);
      continue;
    }
    begin_step(*c, b->to);
    codec_->append(to, b->to, request_of(*c, owner_at_server(*c)));
    c->was_sent = true;
    to.expect(*b, 1, now);
  }
}

void retrying_layout::on_reply(request& b, const value& v, const reply_context& context) {
  if (b.to == retrying_operation::renew) return answer_renewals(b, v, context);
  const batch_member m = b.members.front();
  retrying_reply r;
  r.to = b.to;
  r.epoch = m.epoch;
  r.ttl = m.ttl;
  r.sent = context.sent;
  r.final = over_->no_older_connection_runs();
  pool_.give_back(b);
  retrying_claim* const c = claims_.at(m.whose);
  const bool is_awaited = c && c->recipe().epoch() == m.epoch;
  const std::string owner = is_awaited ? owner_at_server(*c) : std::string();
  r = codec_->read(v, is_awaited ? request_of(*c, owner) : lock_request(), r);
  if (is_awaited && r.what == retrying_reply::verdict::next_step) c->seen = v.text();
  if (is_awaited && r.what == retrying_reply::verdict::busy) c->had_place = c->recipe().is_waiter();
  if (is_awaited && r.what == retrying_reply::verdict::granted && codec_->owner_is_stamp())
    r.sent = c->owner_since;  // its lease is as old as its stamp
  const bool is_error = v.is(value::kind::error);
  std::string text = is_error ? explain(v.text(), codec_->own_errors()) : std::string();
  if (r.what == retrying_reply::verdict::not_now) {
    over_->note_put_off(text, context.now);
    watch_outage(context.now);
  } else if (!is_error) {
    over_->note_accepted(context.now);
  }
  if (c) c->on_reply(r, std::move(text), context.now, context.events);
}

void retrying_layout::on_not_executed(request& b, const reply_context&) {
  if (b.to == retrying_operation::renew) {
    for (const batch_member& m : b.members)
      if (retrying_claim* const c = claims_.at(m.whose)) renewals_.add(*c, c->place, *over_);
    return end_renewals(b);
  }
  collected_.push_back(&b);
}

void retrying_layout::on_cut(request& b, const reply_context& context) {
  if (b.to == retrying_operation::renew) return end_renewals(b);
  const batch_member m = b.members.front();
  pool_.give_back(b);
  if (retrying_claim* const c = claims_.at(m.whose))
    c->on([&](retrying_recipe& r) { return r.on_cut(m.epoch, context.now, rules()); }, context.now,
          context.events);
}

void retrying_layout::load_scripts(time_point now) {
  for (const script& s : codec_->scripts()) over_->load_script(s, now);
}

void retrying_layout::on_ready(transport&, lane what, time_point now, event_queue&) {
  if (what != lane::commands) return;
  load_scripts(now);
  over_->check_eviction(now);
  orphans_.resend_all(now);
  if (renewals_.goes_with_commands(*over_)) over_->tick_by(now);
}

void retrying_layout::on_down(transport&, lane what, const core::failure& why, loss how,
                              time_point now, event_queue& events) {
  watch_outage(now);
  if (what == lane::renewals && renewals_.goes_with_commands(*over_)) over_->tick_by(now);
  if (what == lane::messages) poll_meanwhile(now, events);
  if (what != lane::commands) return;
  // Nobody is kept waiting for what only a mended URL can bring. Where nothing can be connected to,
  // one attempt has been made.
  const auto waits = [](const retrying_claim& c) { return c.recipe().waits(); };
  const auto is_attempt = [](const retrying_claim& c) { return c.recipe().is_attempt(); };
  if (how == loss::refused) fail(waits, why, now, events);
  if (how == loss::not_reached) fail(is_attempt, why, now, events);
}

// Messages get lost from here on; once they are subscribed to again, each claim is told.
void retrying_layout::poll_meanwhile(time_point now, event_queue& events) {
  claims_.for_each([&](retrying_claim& c) {
    if (c.messages) c.on([&](retrying_recipe& r) { return r.on_unsubscribed(now); }, now, events);
  });
}

template <class Which>
void retrying_layout::fail(Which which, const core::failure& why, time_point now,
                           event_queue& events) {
  claims_.for_each([&](retrying_claim& c) {
    if (which(std::as_const(c)))
      c.give_up(static_cast<errc>(why.code.value()), why.text, now, events);
  });
}

void retrying_layout::on_tick(transport&, time_point now, event_queue& events) {
  end_waits(now, events);
  while (core::heap_timer* const due = sleepers_.take_due(now))
    static_cast<retrying_claim*>(due)->on_wake(now, events);
  over_->tick_by(sleepers_.next());
  probe_messages(now);
  if (renewals_.goes_with_commands(*over_))
    over_->write_commands([&](request_writer& w) { write_renewals(w, now); });
  over_->tick_by(orphans_.tick(now));
}

// While claims wait for messages, a dead connection for them is found out by the question that it
// does not answer.
void retrying_layout::probe_messages(time_point now) {
  if (listeners_ == 0) return;
  over_->tick_by(now + probe_pause());
  over_->want_sample(probe_pause(), now);
}

// When the waiters have waited through it for long enough.
void retrying_layout::watch_outage(time_point now) {
  if (over_->is_out() && settings_.rules.outage_timeout != duration::max())
    over_->tick_by(core::saturating_add(now, settings_.rules.outage_timeout));
}

void retrying_layout::end_waits(time_point now, event_queue& events) {
  const duration most = settings_.rules.outage_timeout;
  if (most == duration::max() || over_->out_since() == core::never) return;
  claims_.for_each([&](retrying_claim& c) {
    if (!c.recipe().is_waiter()) return;
    const time_point end = core::saturating_add(std::max(over_->out_since(), c.owner_since), most);
    if (end > now) return over_->tick_by(end);
    c.give_up(errc::unavailable, over_->outage_text(), now, events);
  });
}

void retrying_layout::write_renewals(request_writer& to, time_point now) {
  while (renewals_.may_write()) {
    request& b = pool_.take(retrying_operation::renew, now);
    std::vector<std::string> owners;
    std::vector<lock_request> all;
    owners.reserve(renewal_queue::batch_max);  // the requests keep views into it
    renewals_.take_batch(claims_, [&](retrying_claim& c) {
      if (!c.recipe().is_held()) return false;
      owners.push_back(owner_at_server(c));
      all.push_back(request_of(c, owners.back()));
      if (codec_->owner_is_stamp()) c.renewed = codec_->stamp_at(all.back().wall, all.back().ttl);
      b.members.push_back({.whose = c.place,
                           .epoch = c.recipe().epoch(),
                           .ticket = c.ticket(),
                           .ttl = c.recipe().ttl()});
      return true;
    });
    if (all.empty()) return pool_.give_back(b);
    codec_->append_renewals(to, all);
    renewals_.on_sent();
    to.expect(b, codec_->renewal_replies(all.size()), now, attended::by_nobody);
  }
}

void retrying_layout::answer_renewals(request& b, const value& v, const reply_context& context) {
  for (std::size_t i = 0; i < b.members.size(); ++i) {
    const batch_member& m = b.members[i];
    retrying_claim* const c = claims_.at(m.whose);
    if (!c) continue;
    retrying_reply r;
    r.to = retrying_operation::renew;
    r.epoch = m.epoch;
    r.ticket = m.ticket;
    r.ttl = m.ttl;
    r.sent = context.sent;
    r = codec_->read_renewal(v, i, r);
    const bool is_done = r.what == retrying_reply::verdict::done && r.epoch == c->recipe().epoch();
    if (is_done && c->renewed != std::chrono::microseconds::zero())
      c->owner_id.drawn = std::exchange(c->renewed, {});
    c->on_reply(r, {}, context.now, context.events);
  }
  end_renewals(b);
}

void retrying_layout::end_renewals(request& b) noexcept {
  pool_.give_back(b);
  renewals_.on_end(*over_);
}

}  // namespace holdfast::redis
