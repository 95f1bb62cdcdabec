// The side towards the server: what is written, what its replies mean, connections that come and
// go.
#include <utility>

#include "backend/redis/layouts/retrying_layout.hpp"
#include "backend/redis/transport/error_text.hpp"
#include "base/mutant.hpp"

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
  if (what == retrying_operation::try_lock && codec_->facts().owner_is_stamp) renew_owner(c);
}

// What its claim has given up meanwhile is not sent at all, and what may be answered by a grant
// only where that counts.
void retrying_layout::write_collected(request_writer& to, time_point now) {
  for (request* const b : std::exchange(collected_, {})) {
    const batch_member& m = b->members.front();
    retrying_claim* const c = claims_.at(m.whose);
    if (!c || c->recipe().epoch() != m.epoch) {
      pool_.give_back(*b);
      continue;
    }
    const bool may_grant =
        b->to == retrying_operation::try_lock || b->to == retrying_operation::resolve;
    if (may_grant && !over_->lanes_agree()) {
      collected_.push_back(b);
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
  if (is_awaited && r.what == retrying_reply::verdict::granted && codec_->facts().owner_is_stamp)
    r.sent = c->owner_since;  // its lease is as old as its stamp
  const bool is_error = v.is(value::kind::error);
  std::string text = is_error ? explain(v.text(), codec_->facts().own_errors) : std::string();
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
      if (retrying_claim* const c = claims_.at(m.whose)) renewals_.add(*c, *over_);
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
  for (const script* const s : codec_->facts().loaded) over_->load_script(*s, now);
}

void retrying_layout::on_ready(transport&, lane what, time_point now, event_queue& events) {
  if (what != lane::commands) return;
  load_scripts(now);
  over_->check_eviction(now);
  orphans_.resend_all(now);
  if (over_->has_moved() && !core::planted(core::mutant::leases_unconfirmed))
    confirm_leases(now, events);
  if (renewals_.goes_with_commands(*over_)) over_->tick_by(now);
}

// At another server: what is not there is lost at once, and not at its next renewal. Until the
// server has confirmed it, a lease is doubtful.
void retrying_layout::confirm_leases(time_point now, event_queue& events) {
  claims_.for_each([&](retrying_claim& c) {
    c.on([](retrying_recipe& r) { return r.on_moved(); }, now, events);
  });
  renewals_.add_held(claims_, *over_);
  over_->write_commands([&](request_writer& w) { write_renewals(w, now); });
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
  const auto code = static_cast<errc>(why.code.value());
  if (how == loss::refused) claims_.give_up(waits, code, why.text, now, events);
  if (how == loss::not_reached) claims_.give_up(is_attempt, code, why.text, now, events);
}

// Messages get lost from here on; once they are subscribed to again, each claim is told.
void retrying_layout::poll_meanwhile(time_point now, event_queue& events) {
  claims_.for_each([&](retrying_claim& c) {
    if (c.messages) c.on([&](retrying_recipe& r) { return r.on_unsubscribed(now); }, now, events);
  });
}

void retrying_layout::on_tick(transport&, time_point now, event_queue& events) {
  end_waits(now, events);
  over_->tick_by(claims_.wake_due(now, events));
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

// The first waiter makes its last attempt then, at the earliest.
void retrying_layout::watch_outage(time_point now) {
  if (over_->is_unavailable()) over_->tick_by(claims_.first_end_of_wait(now));
}

void retrying_layout::end_waits(time_point now, event_queue& events) {
  const auto why = [this] { return over_->outage_text(); };
  const auto waits = claims_.end_waits(over_->out_since(), why, now, events);
  over_->tick_by(waits.due);
  if (waits.retry_now) over_->retry_now(lane::commands, now);
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
      if (codec_->facts().owner_is_stamp)
        c.renewed = codec_->stamp_at(all.back().wall, all.back().ttl);
      b.members.push_back({.whose = c.place(),
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
