#include "backend/redis/layouts/redlock/redlock_layout.hpp"

#include <algorithm>

#include "backend/redis/layouts/redlock/queries.hpp"
#include "backend/redis/layouts/retrying_queries.hpp"
#include "backend/redis/topologies/independent.hpp"
#include "base/mutant.hpp"

namespace holdfast::redis {

using base::event_queue;
using base::mutant;
using base::planted;
using namespace std::chrono_literals;

namespace {

// Clients that hear of a release together do not try together: the more there are, the longer they
// wait, so that those that are early have released it before the late ones try.
constexpr duration wake_spread = 1ms, wake_spread_max = 4ms;
constexpr std::uint8_t lost_lately_max = 2;
constexpr duration between_looks = 100ms;
constexpr duration after_withdrawal = 5ms, after_withdrawal_max = 320ms;
constexpr std::uint8_t leads_after_busy = 16;

seam::capabilities with_limit(seam::capabilities can, duration max_ttl) {
  can.ttl_max = max_ttl;
  return can;
}

}  // namespace

redlock_layout::redlock_layout(io::client_reactor& r, const settings& s)
    : claims_layout(r, s), can_(with_limit(codec_.facts().can, s.max_ttl)) {}

std::unique_ptr<layout_node> redlock_layout::make_node(transport& over) {
  auto made = std::make_unique<redlock_node>(*this, settings_, over,
                                             static_cast<std::uint8_t>(servers_.size()));
  servers_.push_back(made.get());
  return made;
}

std::unique_ptr<seam::claim> redlock_layout::open(std::string_view name, seam::claim_sink& sink) {
  return std::make_unique<redlock_claim>(*this, key_of(name), sink);
}

void redlock_layout::inspect(std::string_view prefix, seam::holders_handler& to) {
  ask_majority(servers_, to, [&](const lock_server& at, seam::holders_handler& part) {
    start_holders_query(at, codec_, settings_.prefix, prefix, query_scope::all_that_begin_so, part);
  });
}

void redlock_layout::holders(std::string_view name, seam::holders_handler& to) {
  ask_majority(servers_, to, [&](const lock_server& at, seam::holders_handler& part) {
    start_holders_query(at, codec_, settings_.prefix, name, query_scope::one_lock, part);
  });
}

void redlock_layout::break_lock(std::string_view name, std::string_view seen,
                                seam::decision_handler& to) {
  ask_majority(servers_, to, [&](const lock_server& at, seam::decision_handler& part) {
    start_breaking(at, codec_, key_of(name), seen, part);
  });
}

void redlock_layout::add(redlock_claim& c, std::string_view key) {
  c.key = key;
  claims_.add(c);
}

void redlock_layout::remove(redlock_claim& c) noexcept {
  drop_owner(c);
  c.messages.clear();
  claims_.remove(c);
}

// A majority has to be rid of what is to be withdrawn. A server that is out of reach keeps it for
// the rest of its lease, which harms nobody.
bool redlock_layout::is_settled() const noexcept {
  const auto is_rid = [](const redlock_node* n) { return n->is_settled(); };
  const auto rid = static_cast<std::size_t>(std::ranges::count_if(servers_, is_rid));
  return rid >= majority() && std::ranges::all_of(servers_, [&](const redlock_node* n) {
           return n->is_settled() || !n->over().is_ready(lane::commands);
         });
}

std::optional<retrying_reply> redlock_layout::submit(redlock_claim& c, retrying_operation op,
                                                     time_point now, event_queue&) {
  switch (op) {
    case retrying_operation::try_lock:
    case retrying_operation::resolve: return attempt(c, now);
    case retrying_operation::subscribe: return subscribe(c, now);
    case retrying_operation::renew: return renew(c, now), std::nullopt;
    case retrying_operation::release:
    case retrying_operation::withdraw: return leave(c, op, now);
    case retrying_operation::downgrade:
    case retrying_operation::none: break;
  }
  return {};
}

void redlock_layout::renew_owner(redlock_claim& c) {
  drop_owner(c);
  c.owner_text =
      codec_.text_of({.high = base::random_u64(env()), .low = base::random_u64(env()) | 1});
  c.asked_at = c.unanswered_at = 0;
  for (redlock_node* const n : servers_) n->count_owners(1);
}

void redlock_layout::drop_owner(redlock_claim& c) noexcept {
  if (c.owner_text.empty()) return;
  c.owner_text.clear();
  for (redlock_node* const n : servers_) n->count_owners(-1);
}

void redlock_layout::withdraw_orphan(redlock_claim& c, time_point now, event_queue&) {
  if (c.owner_text.empty() || planted(mutant::unknown_acquire_dropped)) return;
  const time_point end = base::saturating_add(now, c.recipe().ttl() + claims::late_request_max);
  for (redlock_node* const n : servers_)
    if ((c.asked_at & bit_of(n->server())) != 0) n->withdraw(c.key, c.owner_text, end, now);
}

void redlock_layout::after_step(redlock_claim& c, time_point now) {
  if (c.recipe().is_idle()) drop_owner(c);
  const bool waits_now = c.recipe().now_in() == retrying_recipe::state::waiting;
  if (waits_now && c.hears_withdrawal) try_after_withdrawal(c, now);
  if (!c.recipe().wants_messages()) c.messages.clear();
  reactor_.count(c, c.recipe().waits(), c.recipe().is_held());
}

std::string redlock_layout::reason(const redlock_claim&, errc why) const {
  const bool is_outage =
      why == errc::unavailable || why == errc::outcome_unknown || why == errc::no_quorum;
  return is_outage ? text_of_servers() : std::string();
}

std::string redlock_layout::text_of_servers() const {
  failed_servers failed;
  for (const redlock_node* const n : servers_)
    if (const std::string why = n->why_not(); !why.empty()) failed.add(n->address(), why);
  const std::string all = std::to_string(servers_.size());
  if (failed.size() == 0)
    return "fewer than " + std::to_string(majority()) + " of " + all +
           " servers answered within the node-timeout";
  return std::to_string(failed.size()) + " of " + all + " servers cannot vote, and " +
         std::to_string(majority()) + " have to: " + failed.list();
}

std::optional<retrying_reply> redlock_layout::subscribe(redlock_claim& c, time_point now) {
  const std::string channel = codec_.channel_of({.key = c.key});
  std::size_t failed = 0;
  if (c.messages.empty())
    for (redlock_node* const n : servers_) c.messages.push_back(n->listen(channel, c, now));
  for (const redlock_node* const n : servers_) failed += n->over().has_failed(lane::messages);
  retrying_reply r;
  r.to = retrying_operation::subscribe;
  r.epoch = c.recipe().epoch();
  if (count_messages(c) >= majority()) {
    r.what = retrying_reply::verdict::subscribed;
  } else if (failed <= servers_.size() - majority()) {
    return {};  // on_messages() follows
  }
  return r;
}

std::size_t redlock_layout::count_messages(const redlock_claim& c) const noexcept {
  return static_cast<std::size_t>(
      std::ranges::count_if(c.messages, [](const auto& s) { return s->is_active(); }));
}

// A release goes to a majority at least, so one of any majority hears of it.
void redlock_layout::on_messages(redlock_claim& c, time_point now, event_queue& events) {
  if (count_messages(c) != majority()) return;
  c.on([&](retrying_recipe& r) { return r.on_subscribed(now, rules()); }, now, events);
}

void redlock_layout::on_messages_lost(time_point now, event_queue& events) {
  claims_.for_each([&](redlock_claim& c) {
    if (!c.messages.empty() && count_messages(c) < majority())
      c.on([&](retrying_recipe& r) { return r.on_unsubscribed(now); }, now, events);
  });
}

// Each server tells it, and one of them is enough. Withdrawals are heard with a growing pause:
// where the lock has an owner, each waiter that tries withdraws too, which the others hear.
void redlock_layout::on_release_heard(redlock_claim& c, std::string_view payload, time_point now,
                                      event_queue& events) {
  const auto [owner, is_withdrawal] = redlock::read_message(payload);
  if (owner == c.heard_of || owner == c.owner_text) return;
  c.heard_of = owner;
  if (!is_withdrawal) c.withdrawals = 0;
  const bool waits = c.recipe().now_in() == retrying_recipe::state::waiting;
  if (is_withdrawal) {
    c.hears_withdrawal = true;
    if (waits) try_after_withdrawal(c, now);
  } else if (waits) {
    try_by(c, now + random_pause(c));
  } else {
    c.on([&](retrying_recipe& r) { return r.on_message(now, rules()); }, now, events);
  }
}

void redlock_layout::try_after_withdrawal(redlock_claim& c, time_point now) {
  c.hears_withdrawal = false;
  const duration pause = claims::doubled(after_withdrawal, c.withdrawals, after_withdrawal_max);
  claims::count_up(c.withdrawals);
  try_by(c, now + base::jittered(env(), pause, 0.5));
}

void redlock_layout::try_by(redlock_claim& c, time_point t) {
  if (t < c.at()) wake_at(c, t);
}

duration redlock_layout::random_pause(const redlock_claim& c) {
  const duration limit = claims::doubled(wake_spread, c.lost_lately, wake_spread_max);
  return base::jittered(env(), limit / 2, 1.0);
}

void redlock_layout::note_attempt(redlock_claim& c, bool is_granted) noexcept {
  if (is_granted) {
    if (c.lost_lately > 0) --c.lost_lately;
    c.withdrawals = 0;
    return;
  }
  c.lost_lately = std::min<std::uint8_t>(c.lost_lately + 1, lost_lately_max);
  c.leads = leads_after_busy;
}

time_point redlock_layout::out_since() const {
  std::vector<time_point> all;
  for (const redlock_node* const n : servers_) all.push_back(n->over().out_since());
  std::ranges::sort(all);
  return all[servers_.size() - majority()];
}

void redlock_layout::end_waits(time_point now, event_queue& events) {
  if (!claims_.bounds_waits()) return;
  const auto why = [this] {
    return "the outage lasts for longer than the outage-timeout: " + text_of_servers();
  };
  const auto waits = claims_.end_waits(out_since(), why, now, events);
  reactor_.wake_by(waits.due);
  if (!waits.retry_now) return;
  for (redlock_node* const n : servers_) n->retry_now(now);
}

void redlock_layout::on_tick(time_point now, event_queue& events) {
  end_waits(now, events);
  reactor_.wake_by(claims_.wake_due(now, events));
  while (base::heap_timer* const due = overdue_.take_due(now))
    on_overdue(static_cast<redlock_round&>(*due), now, events);
  reactor_.wake_by(overdue_.next());
}

const redlock_node* redlock_layout::twin_of(const redlock_node& n) const noexcept {
  for (const redlock_node* const other : servers_) {
    if (other == &n) break;  // of two, the first one counts
    if (n.state() && other->state() && !n.state()->run_id.empty() &&
        n.state()->run_id == other->state()->run_id)
      return other;
  }
  return nullptr;
}

// The last description counts of a server that is out of reach.
const redlock_node* redlock_layout::node_with_record_of(const redlock_node& n) const noexcept {
  for (const redlock_node* const other : servers_)
    if (n.last_state().has_record_of(other->last_state()) &&
        !planted(mutant::copied_record_believed))
      return other;
  return nullptr;
}

void redlock_layout::on_looked(time_point now) {
  for (redlock_node* const other : servers_)
    if (other->may_vote() && (twin_of(*other) || node_with_record_of(*other))) other->judge(now);
  begin_records(now);
}

// A server without a record, or with an old one, gets its number from others: each grant has left
// its number at a majority, so one of the servers that are asked has it. They are asked once no
// grant can be under way any more for which the server has voted. Where too many have lost their
// record, all servers have to be there, and the numbers go on from the clock. Only where none has
// ever voted the servers are new, and begin at once.
void redlock_layout::begin_records(time_point now) {
  const auto is_empty = [](const redlock_node* n) {
    return n->state() && n->state()->is_empty() && !n->has_copy();
  };
  const auto may_begin = [&](const redlock_node* n) {
    return is_empty(n) &&
           (n->state()->may_begin_anew(settings_.max_ttl) || planted(mutant::record_begun_early));
  };
  time_point noticed{};
  std::size_t known = 0, unused = 0, fresh = 0, begun = 0, empty = 0;
  std::int64_t largest = 0;
  for (const redlock_node* const n : servers_) {
    empty += is_empty(n);
    if (may_begin(n)) noticed = std::max(noticed, n->state()->asked_at);
  }
  if (empty == 0) return;
  for (const redlock_node* const n : servers_) {
    if (!n->state()) continue;
    ++known;
    unused += n->state()->is_gone() && n->state()->is_unused;
    if (n->state()->is_empty() || n->has_copy()) continue;
    ++begun;
    if (n->state()->asked_at >= noticed) ++fresh;
    const std::int64_t number = *n->state()->record.number;
    largest = std::max(largest, planted(mutant::record_begun_at_one) ? 1 : number);
  }
  const std::size_t enough = servers_.size() - majority() + 1;  // one of them is in any majority
  const bool are_new = unused == servers_.size();
  const bool are_lost = known == servers_.size() && begun < enough;
  if (!are_new && noticed == time_point{}) return;
  if (are_lost && look_again_at_empty(now)) return;
  if (fresh < enough && !are_lost) {
    for (redlock_node* const n : servers_)
      if (n->state() && !n->state()->is_empty() && n->state()->asked_at < noticed) n->look(now);
    return;
  }
  if (are_lost) largest = std::max<std::int64_t>(largest, env().wall().count());
  for (redlock_node* const n : servers_)
    if (are_new || may_begin(n)) n->begin_record(largest, now);
}

// Until it is certain that all servers without a record were without one at the same time. Another
// client may have begun the record of one before another server lost its own.
bool redlock_layout::look_again_at_empty(time_point now) {
  time_point all_empty{};
  for (const redlock_node* const n : servers_)
    if (n->state()->is_gone())
      all_empty = std::max(all_empty, n->state()->answered_at - n->state()->empty_for());
  bool is_any_old = false;
  for (redlock_node* const n : servers_) {
    if (!n->state()->is_gone() || n->state()->asked_at >= all_empty) continue;
    is_any_old = true;
    n->look_by(now + between_looks);
  }
  return is_any_old;
}

void redlock_record::on_subscribed(time_point now, event_queue& events) {
  auto& c = static_cast<redlock_claim&>(*this);
  c.store().on_messages(c, now, events);
}

void redlock_record::on_message(std::string_view payload, time_point now, event_queue& events) {
  auto& c = static_cast<redlock_claim&>(*this);
  c.store().on_release_heard(c, payload, now, events);
}

static_assert(claims::store_of<redlock_layout, redlock_claim>);

}  // namespace holdfast::redis
