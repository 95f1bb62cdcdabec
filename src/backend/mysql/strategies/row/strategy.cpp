#include "backend/mysql/strategies/row/strategy.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "backend/mysql/transport/error_text.hpp"
#include "base/mutant.hpp"

namespace holdfast::mysql::row {

using base::mutant;
using base::planted;
using claims::retrying_operation;
using claims::retrying_reply;
using retrying::claim;
using verdict = retrying_reply::verdict;

namespace {

constexpr std::size_t name_max = 767;  // of the column

// Clients poll where there is no bell. A bell wakes a waiter that sleeps, and the nap is for a
// holder that was stopped or has no bell. A client that uses a row without a pause shares it with
// the waiters that have bells by their queue, and leaves it free only for those that poll.
constexpr claims::retrying_recipe::rules woken_by_bell = [] {
  claims::retrying_recipe::rules out = retrying::polling;
  out.has_channel = out.keeps_messages = true;
  out.nap_max = std::chrono::seconds{2};
  out.channel_is_queue = true;
  out.queue_after = std::chrono::milliseconds{25};
  return out;
}();

// The answer to a claim that queues for the bell before it tries. It says nothing about older
// requests of the claim.
retrying_reply to_be_queued(const claim& c) noexcept {
  return {.to = retrying_operation::try_lock,
          .what = verdict::busy,
          .final = false,
          .epoch = c.recipe().epoch()};
}

}  // namespace

strategy::strategy(base::environment& env, const settings& s)
    : retrying::strategy(env, s, texts_, woken_by_bell), texts_(s.table) {}

std::string strategy::name_fault(std::string_view name) const {
  if (terms().prefix.size() + name.size() <= name_max) return {};
  return "it is longer than " + std::to_string(name_max) + " bytes with the prefix of the URL";
}

// A transaction checks each lock before it writes any.
bool strategy::can_lock_all(std::span<const std::string_view> names) const {
  std::vector<std::string_view> sorted(names.begin(), names.end());
  std::ranges::sort(sorted);
  return std::ranges::adjacent_find(sorted) == sorted.end();
}

retrying_reply strategy::read_try(claims::claim_handle whose, const sql_reply& reply,
                                  std::uint8_t step, retrying_reply r) {
  r.what = verdict::next_step;
  if (step == 0 || step == 3) {
    if (reply.insert_id == 0 && !planted(mutant::row_number_unread)) return r;
    r.what = verdict::granted;
    r.number = static_cast<std::int64_t>(reply.insert_id);
    return r;
  }
  if (step == 2) return r;
  if (reply.rows.empty()) {
    if (step == 4) r.what = verdict::start_over;  // it was created, and is gone again
    return r;
  }
  const std::int64_t left = std::max<std::int64_t>(0, reply.number(0, 1));
  claim* const c = claim_at(whose);
  if (left == 0 && c && reply.number(0, 2) != 0) {
    c->looks_at_members = true;
    return r;
  }
  // The holder's release may be executed after the first statement of the waiter that it wakes.
  const bool was_released = step == 1 && reply.cell(0, 0).empty();
  if (was_released && c && c->waits_for && c->waits_for->is_had()) return r;
  r.what = verdict::busy;
  r.rest = std::chrono::microseconds{left};
  return r;
}

bool strategy::sends_by_itself(claim& c, retrying_operation op, time_point now,
                               std::optional<retrying_reply>& answer) {
  if (op == retrying_operation::try_lock && c.recipe().polls() && !c.waits_for &&
      c.recipe().step_of_attempt() == 0)
    over().submit(lane::commands, texts_.mark(c.name), marks_, now, order_of(c.name));
  if (op == retrying_operation::subscribe) return answer = wait_for_bell(c, now), true;
  if (op == retrying_operation::release && is_release_urgent(c))
    queues_.note(order_of(c.name), now);
  if (op == retrying_operation::renew) {
    c.has_seen_marks = false;  // renewals and marks are counted together
    return renewals_.add(c, now), true;
  }
  if (op != retrying_operation::try_lock) return false;
  if (queues_first(c, now)) return answer = to_be_queued(c), true;
  if (const seam::lock_group group = c.details.group) {
    claim_group* const whole = groups_.join(group, c);
    if (whole && !whole->running) begin_transaction(whole->members, whole, now);
    return true;
  }
  if (c.details.mode == lock_mode::exclusive && !c.looks_at_members) return false;
  begin_transaction({&c}, nullptr, now);
  return true;
}

// A release shows other clients that poll.
void strategy::read_release(claim& c, const sql_reply& reply, retrying_reply& r) {
  if (c.details.mode != lock_mode::exclusive || reply.affected == 0) return;
  r.peers_poll = c.has_seen_marks && c.marks_seen != reply.insert_id;
  c.marks_seen = reply.insert_id;
  c.has_seen_marks = true;
}

retrying_reply strategy::asleep(const claim& c, bool has_bell) {
  return {.to = retrying_operation::subscribe,
          .what = has_bell ? verdict::subscribed : verdict::failed,
          .epoch = c.recipe().epoch()};
}

bool strategy::queues_first(const claim& c, time_point now) const noexcept {
  const claims::retrying_recipe& of = c.recipe();
  const bool is_first_try = of.now_in() == claims::retrying_state::trying && !of.polls();
  return is_first_try && of.is_waiter() && !c.waits_for && !c.details.group &&
         queues_.has(order_of(c.name), now) && !planted(mutant::waiters_overtaken);
}

std::optional<retrying_reply> strategy::wait_for_bell(claim& c, time_point now) {
  if (c.waits_for) return asleep(c, !c.waits_for->is_had());
  if (bells_.size() >= terms().connections) return asleep(c, false);
  bell& b = bells_.emplace_back(*this, c);
  b.place = std::prev(bells_.end());
  c.waits_for = &b;
  if (b.start(now)) return asleep(c, true);
  return {};
}

void strategy::begin_transaction(const std::vector<claim*>& claims, claim_group* group,
                                 time_point now) {
  transactions_.emplace_back(*this, claims, group);
  transactions_.back().place = std::prev(transactions_.end());
  transactions_.back().start(now);
}

std::list<transaction> strategy::take_out(transaction& t) {
  std::list<transaction> out;
  out.splice(out.begin(), transactions_, t.place);
  return out;
}

bool strategy::is_release_urgent(const claim& c) const noexcept {
  return c.waits_for && c.waits_for->has_queued();
}

// A release is sent before its bell is released: the waiter that wakes waits on the server for the
// release, or comes later.
bool strategy::needs_bell(const claim& c) noexcept {
  const claims::retrying_recipe& of = c.recipe();
  if (of.is_held()) return c.waits_for->is_had();
  return !of.is_idle() && of.now_in() != claims::retrying_state::releasing;
}

void strategy::on_step(claim& c, time_point now) {
  if (c.waits_for && !needs_bell(c)) std::exchange(c.waits_for, nullptr)->leave(now);
  if (c.recipe().is_waiter() || c.recipe().is_attempt()) return;
  c.looks_at_members = false;
  if (const seam::lock_group group = std::exchange(c.details.group, {})) groups_.leave(group, c);
}

std::string strategy::guarded_owner(const claim& c) const {
  return c.details.mode == lock_mode::shared ? text_of_group(c.recipe().granted().number)
                                             : base::text_of(c.owner_id);
}

void strategy::on_ready(time_point now, event_queue&) { send_opening(texts_.probe_table(), now); }

// Each table is created only once the one before it is known to be ours.
void strategy::on_opening_reply(const sql_reply& r, const reply_context& context) {
  using step = opening;
  const bool creates = opening_ == step::creates_table || opening_ == step::creates_members;
  const bool lacks_table = r.error == error::no_table && !creates && !has_created_;
  if (lacks_table) {
    const bool is_first = opening_ == step::probes_table;
    opening_ = is_first ? step::creates_table : step::creates_members;
    return send_opening(is_first ? texts_.create_table() : texts_.create_members(), context.now);
  }
  if (!r.is_ok()) return finish_opening(why_not_opened(r, creates));
  if (opening_ == step::probes_members) return finish_opening();
  has_created_ = creates;
  const bool repeats = opening_ == step::creates_table;
  opening_ = repeats ? step::probes_table : step::probes_members;
  send_opening(repeats ? texts_.probe_table() : texts_.probe_members(), context.now);
}

failure strategy::why_not_opened(const sql_reply& r, bool creates) const {
  failure why = explain(r.error, r.text);
  const std::string& table = terms().table;
  const std::string both = table + " and " + table + std::string(member_suffix);
  if (creates)
    return {errc::refused, "the tables " + both + " cannot be created (" + r.text +
                               "); have them created with: " + texts_.create_table() + "; " +
                               texts_.create_members()};
  if (why.code == errc::mismatch)
    why.text = "the tables " + both + " have other columns than the locks of this version (" +
               r.text + "); name another table with ?table=";
  return why;
}

}  // namespace holdfast::mysql::row
