// The side towards the claims: the contract of claims::store_of.
#include "backend/mysql/strategies/row/strategy.hpp"

#include <functional>
#include <string>
#include <utility>

#include "backend/mysql/strategies/row/queries.hpp"
#include "base/mutant.hpp"

namespace holdfast::mysql::row {

using claims::retrying_operation;
using claims::retrying_recipe;
using claims::retrying_reply;
using claims::withdrawal;
using core::mutant;
using core::planted;
using namespace std::chrono_literals;

namespace {

// Waiters poll, and a client that used the lock for a while without a pause leaves it free for
// them. An attempt that found its own owner is granted again.
constexpr retrying_recipe::rules polling{.try_is_idempotent = true,
                                         .share_after = 5ms,
                                         .share_max = 128ms};

}  // namespace

strategy::strategy(core::environment& env, const settings& s)
    : env_(env), settings_(s), texts_(s.table), claims_(s.rules) {}

retrying_recipe strategy::new_recipe() noexcept { return retrying_recipe(polling); }

std::unique_ptr<core::claim> strategy::open(std::string_view name, core::claim_sink& sink) {
  return std::make_unique<claim>(*this, name, sink);
}

void strategy::inspect(std::string_view prefix, core::holders_handler& to) {
  start_holders_query(*over_, texts_.holders_by_prefix(settings_.prefix + std::string(prefix)),
                      settings_.prefix.size(), to);
}

void strategy::holders(std::string_view name, core::holders_handler& to) {
  start_holders_query(*over_, texts_.holders_of(settings_.prefix + std::string(name)),
                      settings_.prefix.size(), to);
}

void strategy::break_lock(std::string_view name, std::string_view seen,
                          core::decision_handler& to) {
  start_breaking(*over_, texts_.release(settings_.prefix + std::string(name), seen), to);
}

void strategy::end_claims(errc code, const std::string& why, time_point now,
                          core::event_queue& events) {
  claims_.give_up_all(code, why, now, events);
}

void strategy::add(claim& c, std::string_view name) {
  c.name = settings_.prefix + std::string(name);
  claims_.add(c);
}

void strategy::remove(claim& c) noexcept { claims_.remove(c); }

request& strategy::take_request() {
  if (spare_.empty()) {
    requests_.push_back(std::make_unique<request>(*this));
    return *requests_.back();
  }
  request& out = *spare_.back();
  spare_.pop_back();
  return out;
}

// A try is several statements where the lock is busy, or was never requested before.
std::string strategy::text_for(const claim& c, retrying_operation what, std::uint8_t step) const {
  const std::string owner = core::text_of(c.owner_id);
  const lock_request r{.name = c.name,
                       .owner = owner,
                       .note = c.note(),
                       .host = settings_.host,
                       .pid = settings_.process,
                       .ttl = c.recipe().ttl()};
  switch (what) {
    case retrying_operation::renew: return texts_.renew(r);
    case retrying_operation::release:
    case retrying_operation::withdraw: return texts_.release(r.name, r.owner);
    default: break;
  }
  switch (step) {
    case 1:
    case 4: return texts_.look(r.name);
    case 2: return texts_.create(r.name);
    default: return texts_.take(r);
  }
}

std::optional<retrying_reply> strategy::submit(claim& c, retrying_operation what, time_point now,
                                               core::event_queue&) {
  if (what == retrying_operation::withdraw && !c.was_sent) {
    retrying_reply nothing_was_sent;
    nothing_was_sent.to = what;
    nothing_was_sent.epoch = c.recipe().epoch();
    nothing_was_sent.what = retrying_reply::verdict::done;
    return nothing_was_sent;
  }
  request& r = take_request();
  r.whose = c.place();
  r.to = what;
  r.epoch = c.recipe().epoch();
  r.ticket = what == retrying_operation::renew ? c.ticket() : 0;
  r.ttl = c.recipe().ttl();
  r.step = what == retrying_operation::renew ? 0 : c.recipe().step_of_attempt();
  c.was_sent = true;
  // A renewal waits behind other statements rather than for a connection that cannot be had.
  const bool renews = what == retrying_operation::renew && !over_->has_failed(lane::renewals);
  over_->submit(renews ? lane::renewals : lane::commands, text_for(c, what, r.step), r, now,
                std::hash<std::string>{}(c.name) | 1);
  if (over_->is_unavailable()) {
    watch_outage(now);
    if (!c.recipe().is_waiter()) over_->retry_by(now + settings_.retry_base);
  }
  return {};
}

void strategy::renew_owner(claim& c) {
  c.owner_id = core::random_uuid(env_);
  c.was_sent = false;
}

void strategy::withdraw_orphan(claim& c, time_point now, core::event_queue&) {
  if (!c.owner_id || !c.was_sent || planted(mutant::unknown_acquire_dropped)) return;
  const time_point end = core::saturating_add(now, c.recipe().ttl() + claims::late_request_max);
  over_->tick_by(orphans_.add(now, *this, c, end));
}

void strategy::wake_at(claim& c, time_point t) {
  claims_.wake_at(c, t);
  over_->tick_by(t);
}

void strategy::after_step(claim& c, time_point) {
  if (c.recipe().is_idle()) c.owner_id = {};
  const bool waits = c.recipe().waits();
  if (waits == c.is_waiting) return;
  over_->reactor().count(waits - c.is_waiting, 0);
  c.is_waiting = waits;
}

orphan::orphan(strategy& s, const claim& c, time_point end)
    : claims::orphan(end), home_(s), name_(c.name), owner_(core::text_of(c.owner_id)) {}

withdrawal orphan::withdraw(time_point now) {
  home_.over().submit(lane::commands, home_.texts().release(name_, owner_), *this, now);
  return withdrawal::sent;
}

void orphan::on_reply(const sql_reply& r, const reply_context& c) {
  const withdrawal proven = !r.is_ok()   ? withdrawal::refused
                            : c.is_final ? withdrawal::done
                                         : withdrawal::unverified;
  strategy& to = home_;  // on_answer() may end this
  to.over().tick_by(to.orphans().on_answer(*this, proven, c.now));
}

void orphan::on_cut(const failure&, const reply_context& c) {
  strategy& to = home_;
  to.over().tick_by(to.orphans().on_answer(*this, withdrawal::may_be_lost, c.now));
}

bool request::is_wanted() const noexcept { return home_.is_wanted(*this); }
void request::on_reply(const sql_reply& r, const reply_context& c) { home_.on_reply(*this, r, c); }
void request::on_cut(const failure&, const reply_context& c) { home_.on_cut(*this, c); }
void request::on_dropped() noexcept { home_.give_back(*this); }

}  // namespace holdfast::mysql::row
