// Events from the server: replies to claims, messages, connections that are ready.
#include <utility>

#include "backend/redis/layouts/scripts.hpp"
#include "backend/redis/layouts/string/deferred.hpp"
#include "backend/redis/layouts/string/string_claim.hpp"
#include "backend/redis/layouts/string/string_layout.hpp"
#include "backend/redis/layouts/string/string_messages.hpp"
#include "base/mutant.hpp"

namespace holdfast::redis {

using core::event_queue;
using core::planted;
using verdict = reply::verdict;
using namespace std::chrono_literals;

void string_layout::on_ready(transport&, lane what, time_point now, event_queue& events) {
  if (what == lane::renewals) return;
  if (what == lane::commands) {
    floor_.forget();
    is_raising_ = false;
    raise_at_ = core::never;
    raises_ = 0;
    over_->open(lane::messages, now);  // a holder is notified when others wait
    load_scripts(now);
    over_->check_eviction(now);
    orphans_.resend_all(now);
    if (over_->has_moved() && !planted(core::mutant::leases_unconfirmed))
      confirm_leases(now, events);
    raise(now);
    if (renewals_.go_with_commands()) over_->tick_by(now);
  }
  send_deferred(now);
}

// At another server: what is not there is lost at once, and not at its next renewal. Until the
// server has confirmed it, a lease is doubtful.
void string_layout::confirm_leases(time_point now, event_queue& events) {
  claims_.for_each(
      [&](claim& c) { c.on([](queueing_recipe& r) { return r.on_moved(); }, now, events); });
  renewals_.add_held();
  over_->write_commands([&](request_writer& w) { renewals_.write(w, now); });
}

void string_layout::on_subscribed(time_point now, event_queue&) {
  claims_.for_each([&](claim& c) {
    event_queue nobody;  // a request is no event
    c.on([&](queueing_recipe& r) { return r.on_subscribed(now); }, now, nobody);
  });
}

void string_layout::on_reply(batch<string_layout>& r, const value& v, const reply_context& c) {
  r.to == operation::renew ? renewals_.on_reply(r, v, c) : collected_.on_reply(r, v, c);
}

void string_layout::on_not_executed(batch<string_layout>& r, const reply_context& c) {
  r.to == operation::renew ? renewals_.on_not_executed(r) : collected_.on_not_executed(r, c);
}

void string_layout::on_cut(batch<string_layout>& r, const reply_context& c) {
  r.to == operation::renew ? renewals_.on_cut(r) : collected_.on_cut(r, c);
}

void string_layout::answer(claims::claim_handle whose, reply q, std::string_view error,
                           const reply_context& context) {
  claim* const c = claims_.at(whose);
  if (!c) return;
  const time_point now = context.now;
  q = grant_rules::believe(q, floor_, over_->clock(), now);
  if (q.what == verdict::not_now) put_off(explain_reply(error), now);
  if (q.what == verdict::granted || q.what == verdict::queued) over_->note_accepted(now);
  const bool is_error = q.what == verdict::failed || q.what == verdict::not_now;
  std::string text = is_error ? explain_reply(error) : std::string();
  if (q.what == verdict::bad_number)
    text =
        "the counter holdfast:n was lost, and the server's clock is behind what was granted before";
  c->on_reply(q, std::move(text), now, context.events);
}

// A release that was not executed would let a try_lock that follows it find the lock busy.
void string_layout::load_scripts(time_point now) {
  namespace scripts = string::scripts;
  for (const script* const s :
       {&scripts::release_uncontended, &scripts::release_with_successor, &scripts::release,
        &scripts::lock_or_queue, &scripts::member_lock_or_queue, &scripts::member_release})
    over_->load_script(*s, now);
}

void string_layout::on_message(std::string_view payload, time_point now, event_queue& events) {
  const std::optional<pushed_message> m = read_message(payload);
  if (!m) return;
  push p;
  p.what = m->what;
  if (m->what == push::kind::grant) {
    p.number = m->number;
    p.others = m->others;
    const bool is_ours =
        over_->lanes_agree() && grant_rules::is_of_server(m->stamp, over_->server_stamp());
    const grant_rules::pushed_grant g{.number = m->number, .at = m->at, .window = m->window};
    if (is_ours)
      p.until =
          grant_rules::deadline_of(g, floor_, over_->clock(), settings_.rules.clock_skew, now);
  } else if (m->what == push::kind::look) {
    p.until = grant_rules::look_at(m->at, over_->clock(), now);
  }
  const auto id = claim_of(client_, m->owner);
  claim* const c = id ? claims_.find(*id) : nullptr;
  const bool has_claim = c && c->lock() == m->lock;
  switch (grant_rules::recipient_of(p.what, id.has_value(), has_claim)) {
    case grant_rules::recipient::claim:
      return c->on([&](queueing_recipe& r) { return r.on(p, now); }, now, events);
    case grant_rules::recipient::next_waiter: return decline(m->owner, m->lock, now);
    case grant_rules::recipient::nobody: return;
  }
}

// The lock was handed to a claim that no longer exists: it is passed on at once.
void string_layout::decline(std::string_view owner, std::string_view lock, time_point now) {
  const std::string_view stamp = over_->server_stamp();
  over_->submit(over_->nobody(), now,
                [&](request_writer& w) { append_withdraw(w.out(), lock, owner, stamp); });
}

}  // namespace holdfast::redis
