#include "backend/redis/layouts/string/string_layout.hpp"

#include <algorithm>

#include "backend/redis/layouts/string/codec.hpp"
#include "backend/redis/layouts/string/queries.hpp"
#include "backend/redis/layouts/string/string_node.hpp"
#include "base/mutant.hpp"

namespace holdfast::redis {

using base::event_queue;
using base::mutant;
using base::planted;

static_assert(claims::store_of<string_layout, claim>);
static_assert(claims::with_succession<queueing_recipe> &&
              claims::with_waiter_check<queueing_recipe>);

namespace {

constexpr seam::capabilities abilities{
    .queue = seam::order::fifo,
    .contention = seam::contention_signal::push,
    .modes = seam::bit_of(lock_mode::exclusive) | seam::bit_of(lock_mode::shared) |
             seam::bit_of(lock_mode::permit),
    .durable = true,
    .processes = true,
    .breakable = true,
    .shown_by_renewal = true,
    .writer_preference = true,
    .downgrade = true,
};

}  // namespace

string_layout::string_layout(io::client_reactor& r, const settings& s)
    : keyed_layout(r, s), client_(base::random_u64(r.env())) {}

const seam::capabilities& string_layout::can() const noexcept { return abilities; }

layout_needs string_layout::needs() const {
  layout_needs out = needs_of_string();
  if (keys_move()) {
    out.counter = {};
    out.counts_by_slot = true;
  }
  return out;
}

std::unique_ptr<layout_node> string_layout::make_node(transport& over) {
  return std::make_unique<string_node>(*this, settings_, over);
}

std::string string_layout::name_fault(std::string_view name) const {
  const std::string key = key_of(name);
  const std::string_view fault = keys_move() ? fault_in_cluster(key) : std::string_view();
  return std::string(fault.empty() ? key_fault(key) : fault);
}

std::unique_ptr<seam::claim> string_layout::open(std::string_view name, seam::claim_sink& sink) {
  return std::make_unique<claim>(*this, key_of(name), sink);
}

// One script acquires them, so one server, and in a cluster one slot, has to have all.
bool string_layout::can_lock_all(std::span<const std::string_view> names) const {
  const std::string first = key_of(names.front());
  return std::ranges::all_of(names, [&](std::string_view name) {
    const std::string key = key_of(name);
    return keys_move() ? slot_of(key) == slot_of(first)
                       : &server_of(key).over == &server_of(first).over;
  });
}

void string_layout::inspect(std::string_view prefix, seam::holders_handler& to) {
  ask_all(to, [&](const lock_server& at, seam::holders_handler& part) {
    start_holders_query(at, settings_.prefix, prefix, query_scope::all_that_begin_so, part);
  });
}

void string_layout::holders(std::string_view name, seam::holders_handler& to) {
  start_holders_query(server_of(key_of(name)), settings_.prefix, name, query_scope::one_lock, to);
}

void string_layout::break_lock(std::string_view name, std::string_view seen,
                               seam::decision_handler& to) {
  const std::string key = key_of(name);
  start_breaking(server_of(key), key, counter_of_key(key), seen, to);
}

void string_layout::raise(std::string_view name, std::int64_t floor, seam::decision_handler& to) {
  const std::string key = key_of(name);
  start_raising(server_of(key), key, counter_of_key(key), floor, to);
}

// The same as counter_of(), for threads without the mutex.
std::string string_layout::counter_of_key(std::string_view key) const {
  return keys_move() ? counter_of_slot(slot_of(key)) : std::string(counter_key);
}

void string_layout::write(const guarded_write& w, seam::decision_handler& to) {
  start_guarded_write(server_of(w.key), w, to);
}

void string_layout::add(claim& c, std::string_view lock) {
  c.lock_ = lock;
  c.slot = slot_here(lock);
  c.node = &node_of_lock(lock);
  claims_.add(c);
}

std::string_view string_layout::counter_at(slot_number slot) {
  if (!keys_move()) return counter_key;
  std::string& counter = counters_[slot];
  if (counter.empty()) counter = counter_of_slot(slot);
  return counter;
}

void string_layout::on_keys_moved(time_point now, event_queue& events) {
  claims_.for_each([&](claim& c) {
    string_node& to = node_of_lock(c.lock());
    if (&to == c.node) return;
    move(c, to, now);
    c.node->adopt(c, now, events);
  });
  tell_nodes_of_moved_keys(now);
}

// What is in flight is answered by the former server. It is of this claim, wherever that is.
void string_layout::move(claim& c, string_node& to, time_point now) {
  string_node& from = *c.node;
  from.leave_group(c);
  from.forget_deferred(c);
  from.renewals_due().forget(c);
  if (c.id()) from.count_owners(-1);
  if (c.was_pushable_) from.count_pushable(-1, now);
  c.node = &to;
  to.note_numbers_below(c, from.take_counter_of(c));
  if (c.id()) to.count_owners(1);
  if (c.was_pushable_) to.count_pushable(1, now);
}

void string_layout::remove(claim& c) noexcept {
  drop_owner(c);
  c.node->leave_group(c);
  claims_.remove(c);
}

std::optional<reply> string_layout::submit(claim& c, operation op, time_point now, event_queue&) {
  if (op == operation::withdraw && !c.was_sent) {  // the server was never sent this id
    c.deferred = operation::none;
    reply done;
    done.to = op;
    done.what = reply::verdict::done;
    done.epoch = c.recipe().epoch();
    return done;
  }
  if (op == operation::renew) {
    c.node->renew(c);
  } else {
    c.node->send(c, op, now);
  }
  return {};
}

bool string_layout::takes_successor(const claim& c, operation release,
                                    const seam::acquire_request& next) const noexcept {
  return grant_rules::may_succeed({.release = release,
                                   .holder = c.recipe().mode(),
                                   .next = next.mode,
                                   .next_waits = !next.one_attempt,
                                   .is_ready = c.node->may_queue()});
}

void string_layout::submit_with_successor(claim& c, claim& next, time_point now) {
  c.node->send_release(c, next, now);
}

void string_layout::renew_owner(claim& c) {
  drop_owner(c);
  c.id_.high = base::random_u64(env());
  if (c.recipe().mode() == lock_mode::permit) c.id_ = with_permits(c.id_, c.details.permits);
  c.id_.low = base::random_u64(env()) | 1;
  c.was_sent = c.info_stored = c.info_may_be_stored = false;
  claims_.insert(c);
  c.node->count_owners(1);
}

void string_layout::drop_owner(claim& c) noexcept {
  if (!c.id()) return;
  claims_.erase(c);
  c.id_ = {};
  c.node->count_owners(-1);
}

void string_layout::withdraw_orphan(claim& c, time_point now, event_queue&) {
  if (!c.id() || !c.was_sent || planted(mutant::unknown_acquire_dropped)) return;
  const time_point end = base::saturating_add(now, c.recipe().ttl() + claims::late_request_max);
  reactor_.wake_by(c.node->orphans().add(now, *c.node, c.lock(), owner_of(c), end));
}

void string_layout::after_step(claim& c, time_point now) {
  const queueing_recipe& r = c.recipe();
  if (r.is_idle()) {
    c.deferred = operation::none;
    drop_owner(c);
  }
  if (c.details.group && r.now_in() != queueing_recipe::state::trying) c.node->leave_group(c);
  count(c, now);
}

// Callers who wait for a reply or a push have the loop driven, as holders do that a push may reach.
void string_layout::count(claim& c, time_point now) {
  const queueing_recipe& r = c.recipe();
  const bool waits = r.waits(), pushable = r.may_be_pushed(), listens = r.listens();
  if (waits == c.was_waiting_ && pushable == c.was_pushable_ && listens == c.was_listening_) return;
  reactor_.count(waits - c.was_waiting_, listens - c.was_listening_);
  if (pushable != c.was_pushable_) c.node->count_pushable(pushable - c.was_pushable_, now);
  c.was_waiting_ = waits;
  c.was_pushable_ = pushable;
  c.was_listening_ = listens;
}

owner_text string_layout::owner_of(const claim& c) const noexcept {
  return text_of(client_, c.id(), c.recipe().mode());
}

std::string string_layout::text_of_owner(const claim& c) const {
  if (c.recipe().mode() == lock_mode::shared) return group_of(c.recipe().number());
  return std::string(view(owner_of(c)));
}

// host|pid|since:number|note. The number of the grant is left out while it is not known.
std::string string_layout::holder_info(const claim& c) const {
  const auto since = std::chrono::floor<std::chrono::milliseconds>(env().wall()).count();
  std::string out = settings_.host;
  std::replace(out.begin(), out.end(), '|', '?');
  out += '|' + std::to_string(settings_.process) + '|' + std::to_string(since);
  if (c.recipe().now_in() == queueing_recipe::state::held)
    out += ':' + std::to_string(c.recipe().number());
  out += '|';
  return out.append(c.note());
}

}  // namespace holdfast::redis
