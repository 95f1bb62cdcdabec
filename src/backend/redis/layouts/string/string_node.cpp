#include "backend/redis/layouts/string/string_node.hpp"

#include <algorithm>
#include <utility>

#include "backend/redis/layouts/scripts.hpp"
#include "backend/redis/layouts/string/codec.hpp"
#include "backend/redis/layouts/string/string_layout.hpp"
#include "base/mutant.hpp"
#include "claim/recipes/back_off.hpp"

namespace holdfast::redis {

using base::event_queue;
using base::failure;
using base::planted;
using verdict = reply::verdict;

// After a wait has begun or ended, or a message has come.
constexpr duration pushes_expected_for = std::chrono::seconds(1);

string_node::string_node(string_layout& l, const settings& s, transport& over)
    : claims_node(l, over),
      settings_(s),
      pushes_(over.subscribe(channel_of(l.client()), *this, env().now())) {
  if (!l.keys_move()) counters_.try_emplace(0, *this, counter_key);
}

void string_node::detach() noexcept {
  orphans_.drop_all();
  pushes_.reset();
}

// Requests of claims: sent now, or deferred until they may be sent.

bool string_node::may_send(const claim& c, operation op) const noexcept {
  const counter* const n = known_counter_of(c);
  const grant_rules::readiness r{.commands = over_.is_ready(lane::commands),
                                 .messages = over_.is_ready(lane::messages),
                                 .lanes_agree = over_.lanes_agree(),
                                 .floor = n && n->floor.is_known(),
                                 .raising = n && n->is_raising};
  return grant_rules::may_send(op, c.recipe().mode(), r);
}

void string_node::send(claim& c, operation op, time_point now) {
  // A lease that was confirmed at another server has a note there, unknown to the recipe.
  if (op == operation::release_uncontended && c.info_may_be_stored) op = operation::release;
  if (op == operation::lock_all) {
    // It may have been in this list before, and was withdrawn: each counts once.
    std::erase_if(deferred_, [&](claims::claim_handle p) { return claims_.at(p) == &c; });
    c.deferred = operation::none;
    defer(c, op);  // it waits for the others, and no longer than its op-timeout
    if (!may_send(c, op)) return;
    if (auto* const whole = groups_.join(c.details.group, c)) send_group(*whole, now);
    return;
  }
  if (!may_send(c, op)) return defer(c, op);
  c.deferred = operation::none;  // what waited would come after what it was given up for
  collected_.add(c, op, now);
}

void string_node::send_release(claim& c, claim& next, time_point now) {
  next.was_sent = true;
  collected_.add_release(c, next, now);
}

void string_node::defer(claim& c, operation op) {
  if (c.deferred == operation::none) {
    deferred_.push_back(c.place());
    c.hurried = false;
  }
  c.deferred = op;
  c.deferred_epoch = c.recipe().epoch();
  const time_point now = env().now();
  over_.tick_by(c.recipe().last_try(settings_.rules));
  over_.note_waiter(now);
  watch_outage(now);
  if (c.recipe().is_attempt()) retry_now(now + settings_.retry_base);
  over_.open(lane::commands, now);
  if (op == operation::lock_or_queue) over_.open(lane::messages, now);
  if (!grant_rules::needs_floor(op, c.recipe().mode())) return;
  counter& n = counter_of(c);
  const bool raises = over_.is_ready(lane::commands) && !n.floor.is_known();
  if (raises && n.raise_at == base::never) n.raise(now);
}

void string_node::forget_deferred(const claim& c) noexcept {
  std::erase_if(deferred_, [&](claims::claim_handle p) { return claims_.at(p) == &c; });
}

// Confirms a held lease, sends what was deferred, and repeats a waiter's request: it may have
// missed messages at the former server.
void string_node::adopt(claim& c, time_point now, event_queue& events) {
  confirm_at_new_server(c, now, events);
  const operation op = std::exchange(c.deferred, operation::none);
  if (op != operation::none && c.deferred_epoch == c.recipe().epoch()) return send(c, op, now);
  over_.open(lane::messages, now);
  if (!over_.is_ready(lane::messages)) return;  // on_subscribed() follows
  c.on([&](queueing_recipe& r) { return r.on_subscribed(now); }, now, events);
}

void string_node::send_again(const claim& c, operation op, const redirection& to, time_point now) {
  counter_of(c).floor.forget();  // where the slot is now, numbers have to prove themselves again
  home_.note_redirected(c.lock(), over_, to, now);
  if (to.why != not_executed::moved) note_refusal(explain(to.error), now);
  redirected_.add(c, op, now);
}

std::int64_t string_node::take_counter_of(const claim& c) noexcept {
  const auto found = counters_.find(c.slot);
  if (found == counters_.end()) return 0;
  found->second.floor.forget();
  return found->second.floor.last();
}

void string_node::note_numbers_below(const claim& c, std::int64_t seen) {
  counter_of(c).floor.note(seen);
}

template <class Stays>
void string_node::review_deferred(Stays stays) {
  std::vector<claims::claim_handle> before;
  before.swap(deferred_);
  for (const auto place : before) {
    claim* const c = claims_.at(place);
    if (!c || c->deferred == operation::none) continue;
    // Deferred before the claim began something else, as before a push granted it the lock.
    const bool is_obsolete = c->deferred_epoch != c->recipe().epoch();
    if (is_obsolete) c->deferred = operation::none;
    if (!is_obsolete && stays(*c)) deferred_.push_back(place);
  }
}

void string_node::send_deferred(time_point now) {
  review_deferred([&](claim& c) {
    send(c, std::exchange(c.deferred, operation::none), now);
    return false;
  });
}

void string_node::wait_for_group(claim& c) {
  defer(c, operation::lock_all);
  groups_.join(c.details.group, c);
}

void string_node::send_group(claims::claim_group<claim>& whole, time_point now) {
  for (claim* c : whole.members) c->deferred = operation::none;
  review_deferred([](claim&) { return true; });
  collected_.add_group(whole.members, now);
  groups_.dissolve(whole);
}

template <class Which>
void string_node::fail_deferred(Which which, const failure& why, time_point now,
                                event_queue& events) {
  review_deferred([&](claim& c) {
    if (!which(c)) return true;
    c.deferred = operation::none;
    c.give_up(static_cast<errc>(why.code.value()), why.text, now, events);
    return false;
  });
}

void string_node::fail_needing(const counter& n, const failure& why, time_point now,
                               event_queue& events) {
  const auto needs_it = [&](const claim& c) {
    return grant_rules::needs_floor(c.deferred, c.recipe().mode()) && known_counter_of(c) == &n;
  };
  fail_deferred(needs_it, why, now, events);
}

void string_node::end_overdue(time_point now, event_queue& events) {
  review_deferred([&](claim& c) {
    const time_point end = c.recipe().due(settings_.rules);
    const time_point last_try = c.recipe().last_try(settings_.rules);
    if (end <= now) {
      c.deferred = operation::none;
      c.on([](queueing_recipe& r) { return r.on_overdue(); }, now, events);
      return false;
    }
    if (last_try <= now && !c.hurried) {
      c.hurried = true;
      retry_now(now);
    }
    over_.tick_by(last_try > now ? last_try : end);
    return true;
  });
}

lock_arguments string_node::arguments_of(const claim& c, owner_text& buffer) const {
  buffer = home_.owner_of(c);
  const queueing_recipe& r = c.recipe();
  return {.lock = c.lock(),
          .owner = view(buffer),
          .counter = home_.counter_of(c),
          .stamp = over_.server_stamp(),
          .ttl = r.ttl(),
          .window = window(r.ttl()),
          .mode = r.mode(),
          .arrival = r.arrival(),
          .number = r.number(),
          .looks = r.replaces_timer(),
          .waits = !r.one_attempt(),
          .total_permits = c.details.total_permits};
}

void string_node::write_requests(lane purpose, request_writer& to) {
  if (purpose == lane::renewals) return write_renewals(to, env().now());
  if (collected_.has_unsent()) collected_.write(to);
}

// Connections that come and go, and the counter.

void string_node::on_ready(lane purpose, time_point now, event_queue& events) {
  if (purpose == lane::renewals) return;
  if (purpose == lane::commands) {
    for (auto& [slot, n] : counters_) n.void_all();
    over_.open(lane::messages, now);  // a holder is notified when others wait
    load_scripts(now);
    resume(now, events);
    if (!home_.keys_move()) counters_.begin()->second.raise(now);
    if (renewals_.goes_with_commands()) over_.tick_by(now);
  }
  send_deferred(now);
}

// A release that was not executed would let a try_lock that follows it find the lock busy.
void string_node::load_scripts(time_point now) {
  namespace scripts = string::scripts;
  for (const script* const s :
       {&scripts::release_uncontended, &scripts::release_with_successor, &scripts::release,
        &scripts::lock_or_queue, &scripts::member_lock_or_queue, &scripts::member_release})
    over_.load_script(*s, now);
}

// transport/error_text.hpp has the rules of which claims wait through an outage.
void string_node::on_down(lane purpose, const failure& why, loss kind, time_point now,
                          event_queue& events) {
  watch_outage(now);
  if (purpose == lane::commands) {
    for (auto& [slot, n] : counters_) {
      n.is_raising = false;
      n.raise_at = base::never;
    }
    collected_.defer_unsent();
  }
  if (purpose == lane::renewals) {
    if (renewals_.goes_with_commands()) over_.tick_by(now);
    return;
  }
  // The server rejected our credentials: all waiters fail, because only a corrected URL can help.
  const auto needs_it = [purpose](const claim& c) {
    return purpose == lane::commands ? c.recipe().waits() : c.recipe().may_be_pushed();
  };
  if (kind == loss::refused) give_up(needs_it, why, now, events);
  // There is nothing to connect to: one attempt has been made.
  const auto is_attempt = [purpose](const claim& c) {
    return c.recipe().is_attempt() &&
           (purpose == lane::commands || c.deferred == operation::lock_or_queue);
  };
  if (kind == loss::not_reached) fail_deferred(is_attempt, why, now, events);
}

void string_node::retry_now(time_point by) {
  over_.retry_now(lane::commands, by);
  over_.retry_now(lane::messages, by);
  for (auto& [slot, n] : counters_) {
    if (n.raise_at == base::never || n.raise_at <= by) continue;
    n.raise_at = by;
    over_.tick_by(by);
  }
}

string_node::counter& string_node::counter_of(const claim& c) {
  const auto found = counters_.find(c.slot);
  if (found != counters_.end()) return found->second;
  return counters_.try_emplace(c.slot, *this, home_.counter_of(c)).first->second;
}

const string_node::counter* string_node::known_counter_of(const claim& c) const noexcept {
  const auto found = counters_.find(c.slot);
  return found == counters_.end() ? nullptr : &found->second;
}

bool string_node::is_open() const noexcept {
  return std::ranges::none_of(counters_, [](const auto& each) { return each.second.is_raising; });
}

void string_node::counter::void_all() noexcept {
  floor.forget();
  is_raising = false;
  raise_at = base::never;
  raises = 0;
}

void string_node::counter::raise(time_point now) {
  if (is_raising) return;
  is_raising = node_.over().submit(*this, now, [&](request_writer& w) {
    append_raise_counter(w.out(), key, floor.last());
  });
}

void string_node::counter::raise_later(time_point now) {
  const duration pause =
      claims::doubled(claims::failed_pause_min, raises, claims::failed_pause_max);
  ++raises;
  raise_at = now + base::jittered(node_.env(), pause, 0.25);
  node_.over().tick_by(raise_at);
}

// Its slot is on the way to another server.
void string_node::counter::on_not_executed(not_executed why, const value& v,
                                           const reply_context& c) {
  if (!node_.home().keys_move()) return node_.on_raised(*this, v, c);
  is_raising = false;
  floor.forget();
  node_.home().note_redirected(key, node_.over(), {why, v.text()}, c.now);
  raise_later(c.now);
}

void string_node::raise_if_due(time_point now) {
  for (auto& [slot, n] : counters_) {
    if (n.raise_at > now) {
      over_.tick_by(n.raise_at);
      continue;
    }
    n.raise_at = base::never;
    const counter* const wanted = &n;
    const bool is_wanted = std::ranges::any_of(deferred_, [&](claims::claim_handle p) {
      const claim* const c = claims_.at(p);
      return c && known_counter_of(*c) == wanted &&
             grant_rules::needs_floor(c->deferred, c->recipe().mode());
    });
    if (is_wanted && over_.is_ready(lane::commands) && !n.floor.is_known()) n.raise(now);
  }
}

void string_node::on_raised(counter& n, const value& v, const reply_context& c) {
  n.is_raising = false;
  if (v.is(value::kind::error) || v.size() != 2) {
    const reply r = read_error(v.text(), {});
    if (r.what != verdict::not_now)
      return fail_needing(n, {r.why, explain_reply(v.text())}, c.now, c.events);
    note_refusal(explain_reply(v.text()), c.now);
    return n.raise_later(c.now);
  }
  n.raises = 0;
  const std::int64_t floor = v[0].integer();
  over_.clock().note(c.sent, server_time_of(v[1].integer()), c.received);
  if (!grant_rules::is_floor_believed(floor, over_.clock())) {
    const std::string error = std::string(counter_ahead) + ' ' + std::string(n.key);
    return fail_needing(n, {errc::refused, explain_reply(error)}, c.now, c.events);
  }
  n.floor.raise(floor);
  send_deferred(c.now);
}

// Replies and messages.

void string_node::answer(claims::claim_handle whose, reply q, std::string_view error,
                         const reply_context& context) {
  claim* const c = claims_.at(whose);
  if (!c) return;
  const time_point now = context.now;
  if (q.what == verdict::granted && has_left(*c))
    return c->on([&](queueing_recipe& r) { return r.on_cut(q.epoch); }, now, context.events);
  q.rest = context.left_of(q.rest);
  q = grant_rules::believe(q, counter_of(*c).floor, over_.clock(), now);
  if (q.what == verdict::not_now) note_refusal(explain_reply(error), now);
  if (q.what == verdict::granted || q.what == verdict::queued) over_.note_accepted(now);
  const bool is_error = q.what == verdict::failed || q.what == verdict::not_now;
  std::string text = is_error ? explain_reply(error) : std::string();
  if (q.what == verdict::bad_number)
    text =
        "the counter holdfast:n was lost, and the server's clock is behind what was granted before";
  c->on_reply(q, std::move(text), now, context.events);
}

void string_node::on_subscribed(time_point now, event_queue&) {
  for_each([&](claim& c) {
    event_queue nobody;  // a request is no event
    c.on([&](queueing_recipe& r) { return r.on_subscribed(now); }, now, nobody);
  });
}

void string_node::on_message(std::string_view payload, time_point now, event_queue& events) {
  const std::optional<pushed_message> m = read_message(payload);
  if (!m) return;
  const auto id = claim_of(home_.client(), m->owner);
  claim* const c = id ? claims_.find(*id) : nullptr;
  // The servers of a cluster pass messages on to each other.
  if (c && c->node != this && home_.keys_move()) return;
  expect_pushes(now);
  push p;
  p.what = m->what;
  if (m->what == push::kind::grant) {
    p.number = m->number;
    p.others = m->others;
    const bool is_ours =
        over_.lanes_agree() && grant_rules::is_of_server(m->stamp, over_.server_stamp());
    const grant_rules::pushed_grant g{.number = m->number, .at = m->at, .window = m->window};
    static const number_floor nothing;
    const counter* const n = c ? known_counter_of(*c) : nullptr;
    if (is_ours)
      p.until = grant_rules::deadline_of(g, n ? n->floor : nothing, over_.clock(),
                                         settings_.rules.clock_skew, now);
  } else if (m->what == push::kind::look) {
    p.until = grant_rules::look_at(m->at, over_.clock(), now);
  }
  const bool is_here = c && (c->node == this || planted(base::mutant::push_of_another_server));
  const bool has_claim = is_here && c->lock() == m->lock;
  switch (grant_rules::recipient_of(p.what, id.has_value(), has_claim)) {
    case grant_rules::recipient::claim:
      if (c) c->on([&](queueing_recipe& r) { return r.on(p, now); }, now, events);
      return;
    case grant_rules::recipient::next_waiter: return decline(m->owner, m->lock, now);
    case grant_rules::recipient::nobody: return;
  }
}

// The lock was handed to a claim that no longer exists: it is passed on at once.
void string_node::decline(std::string_view owner, std::string_view lock, time_point now) {
  if (&home_.node_of_lock(lock) != this) return;  // all servers of a cluster pass the message on
  const owned_lock l{lock, home_.counter_of(lock), owner, over_.server_stamp()};
  over_.submit(over_.reply_discarder(), now,
               [&](request_writer& w) { append_withdraw(w.out(), l); });
}

// Timed work.

void string_node::on_tick(time_point now, event_queue& events) {
  end_overdue(now, events);
  redirected_.tick(claims_, now, [&](claim& c, operation op) {
    if (op == operation::renew) return c.node->renew(c);
    if (c.recipe().due(settings_.rules) > now) return c.node->send(c, op, now);
    c.on([](queueing_recipe& r) { return r.on_overdue(); }, now, events);
  });
  end_waits(now, events);
  raise_if_due(now);
  wake_due(now, events);
  keep_sample(now);
  tick_renewals_and_orphans(now);
}

void string_node::count_pushable(int change, time_point now) {
  pushable_ += change;
  expect_pushes(now);
}

void string_node::expect_pushes(time_point now) {
  pushes_expected_until_ = now + pushes_expected_for;
  if (pushable_ > 0) over_.tick_by(now + sample_age_max(now));
}

// While locks are handed over, the next hand-over can be placed on our clock at once. A grant that
// comes after a pause is confirmed by a request instead.
duration string_node::sample_age_max(time_point now) const noexcept {
  const duration age = window(duration::max()) / 2;
  if (now < pushes_expected_until_) return age;
  return std::max(age, settings_.rules.op_timeout / 4);
}

void string_node::keep_sample(time_point now) {
  if (pushable_ == 0) return;
  const duration age_max = sample_age_max(now);
  over_.tick_by(now + age_max);
  over_.want_sample(age_max, now);
}

}  // namespace holdfast::redis
