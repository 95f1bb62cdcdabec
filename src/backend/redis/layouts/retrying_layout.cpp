// The side towards the claims: the contract of claims::store_of.
#include "backend/redis/layouts/retrying_layout.hpp"

#include <utility>

#include "backend/redis/layouts/retrying_queries.hpp"
#include "base/mutant.hpp"

namespace holdfast::redis {

using core::event_queue;
using core::mutant;
using core::planted;

retrying_layout::retrying_layout(io::client_reactor& r, const settings& s,
                                 std::unique_ptr<const retrying_codec> c)
    : reactor_(r), settings_(s), codec_(std::move(c)), claims_(s.rules) {}

void retrying_layout::detach() noexcept {
  orphans_.drop_all();
  claims_.for_each([&](retrying_claim& c) { stop_listening(c); });
}

std::unique_ptr<core::claim> retrying_layout::open(std::string_view name, core::claim_sink& sink) {
  return std::make_unique<retrying_claim>(*this, key_of(name), sink);
}

void retrying_layout::inspect(std::string_view prefix, core::holders_handler& to) {
  start_inspection(*over_, *codec_, settings_.prefix, prefix, to);
}

void retrying_layout::holders(std::string_view name, core::holders_handler& to) {
  start_holders_query(*over_, *codec_, settings_.prefix, name, to);
}

void retrying_layout::break_lock(std::string_view name, std::string_view seen,
                                 core::decision_handler& to) {
  start_breaking(*over_, *codec_, key_of(name), seen, to);
}

void retrying_layout::withdraw_all(time_point now) {
  if (over_->is_ready(lane::commands)) orphans_.resend_all(now);
}

void retrying_layout::remove(retrying_claim& c) noexcept {
  drop_owner(c);
  stop_listening(c);
  claims_.remove(c);
}

std::optional<retrying_reply> retrying_layout::submit(retrying_claim& c, retrying_operation what,
                                                      time_point now, event_queue&) {
  retrying_reply r;
  r.to = what;
  r.epoch = c.recipe().epoch();
  switch (what) {
    case retrying_operation::subscribe:
      r.what = subscribe(c, now);
      return r.what == retrying_reply::verdict::not_now ? std::nullopt : std::optional(r);
    case retrying_operation::withdraw:
      if (c.was_sent && !planted(mutant::withdrawal_dropped)) break;
      r.what = retrying_reply::verdict::done;  // the server has never seen this owner
      return r;
    case retrying_operation::renew: return renewals_.add(c, *over_), std::nullopt;
    default: break;
  }
  collect(c, what, now);
  return {};
}

// not_now: on_subscribed() will say it.
retrying_reply::verdict retrying_layout::subscribe(retrying_claim& c, time_point now) {
  if (!c.messages) {
    const std::string owner = owner_at_server(c);
    c.messages = over_->subscribe(codec_->channel_of(request_of(c, owner)), c, now);
    if (listeners_++ == 0) over_->tick_by(now + probe_pause());
  }
  if (c.messages->is_active()) return retrying_reply::verdict::subscribed;
  over_->open(lane::messages, now);
  return over_->has_failed(lane::messages) ? retrying_reply::verdict::failed
                                           : retrying_reply::verdict::not_now;
}

void retrying_layout::stop_listening(retrying_claim& c) noexcept {
  if (!c.messages) return;
  c.messages.reset();
  --listeners_;
}

void retrying_record::on_subscribed(time_point now, core::event_queue& events) {
  auto& c = static_cast<retrying_claim&>(*this);
  c.on([&](retrying_recipe& r) { return r.on_subscribed(now, c.store().rules()); }, now, events);
}

void retrying_record::on_message(std::string_view, time_point now, core::event_queue& events) {
  auto& c = static_cast<retrying_claim&>(*this);
  c.on([&](retrying_recipe& r) { return r.on_message(now, c.store().rules()); }, now, events);
}

void retrying_layout::collect(retrying_claim& c, retrying_operation what, time_point now) {
  request& b = pool_.take(what, now);
  b.members.push_back({.whose = c.place(), .epoch = c.recipe().epoch(), .ttl = c.recipe().ttl()});
  collected_.push_back(&b);
  if (over_->is_ready(lane::commands)) return;
  over_->note_affected(now);
  watch_outage(now);
  if (!c.recipe().is_waiter()) over_->retry_now(lane::commands, now + settings_.retry_base);
  over_->open(lane::commands, now);
}

void retrying_layout::renew_owner(retrying_claim& c) {
  drop_owner(c);
  c.owner_id.high = core::random_u64(env());
  c.owner_id.low = core::random_u64(env()) | 1;
  c.owner_since = env().now();
  c.owner_id.drawn = codec_->stamp_at(env().wall(), c.recipe().ttl());
  c.renewed = {};
  c.was_sent = c.had_place = false;
  ++owners_;
}

void retrying_layout::drop_owner(retrying_claim& c) noexcept {
  if (!c.owner_id) return;
  c.owner_id = {};
  --owners_;
}

void retrying_layout::withdraw_orphan(retrying_claim& c, time_point now, event_queue&) {
  if (!c.owner_id || !c.was_sent || planted(mutant::unknown_acquire_dropped)) return;
  const time_point end = core::saturating_add(now, c.recipe().ttl() + claims::late_request_max);
  over_->tick_by(orphans_.add(now, *this, c, end));
}

std::string retrying_layout::text_of_owner(const retrying_claim& c) const {
  const retrying_recipe& r = c.recipe();
  const lock_mode how = r.is_downgraded() ? lock_mode::shared : c.details.mode;
  return codec_->guarded_owner(c.owner_id, {how, r.granted().number});
}

void retrying_layout::wake_at(retrying_claim& c, time_point t) {
  claims_.wake_at(c, t);
  over_->tick_by(t);
}

void retrying_layout::after_step(retrying_claim& c, time_point) {
  if (c.recipe().is_idle()) drop_owner(c);
  if (!c.recipe().wants_messages()) stop_listening(c);
  // A holder has the loop driven too: it must learn at once that a connection has ended, because
  // the name may lead to another server from then on.
  const bool waits = c.recipe().waits();
  const bool listens = c.recipe().is_held();
  if (waits == c.is_waiting && listens == c.is_listening) return;
  reactor_.count(waits - c.is_waiting, listens - c.is_listening);
  c.is_waiting = waits;
  c.is_listening = listens;
}

retrying_orphan::retrying_orphan(retrying_layout& l, const retrying_claim& c, time_point end)
    : server_orphan(l, end, l.codec().facts().rules.queue_heartbeat),
      key(c.key),
      owner(l.owner_at_server(c)),
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
          .permits = details.permits,
          .total_permits = details.total_permits,
          .wall = home.env().wall(),
          .seen = seen};
}

claims::withdrawal retrying_orphan::send(time_point now) {
  const bool is_sent = home.over().submit(*this, now, [&](request_writer& w) {
    home.codec().append(w, retrying_operation::withdraw, request());
  });
  return is_sent ? withdrawal::sent : withdrawal::unsent;
}

claims::withdrawal retrying_orphan::take(const value& v, time_point now) {
  retrying_reply r;
  r.to = retrying_operation::withdraw;
  r = home.codec().read(v, request(), r);
  if (r.what != retrying_reply::verdict::next_step) return withdrawal::done;
  ++step;
  seen = v.text();
  return send(now);
}

}  // namespace holdfast::redis
