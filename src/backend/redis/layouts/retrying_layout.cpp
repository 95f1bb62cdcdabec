#include "backend/redis/layouts/retrying_layout.hpp"

#include <utility>

#include "backend/redis/layouts/retrying_node.hpp"
#include "backend/redis/layouts/retrying_queries.hpp"
#include "base/mutant.hpp"

namespace holdfast::redis {

using base::event_queue;
using base::mutant;
using base::planted;

retrying_layout::retrying_layout(io::client_reactor& r, const settings& s,
                                 std::unique_ptr<const retrying_codec> c)
    : keyed_layout(r, s), codec_(std::move(c)) {}

std::unique_ptr<layout_node> retrying_layout::make_node(transport& over) {
  return std::make_unique<retrying_node>(*this, settings_, over);
}

std::string retrying_layout::name_fault(std::string_view name) const {
  if (std::string fault = codec_->name_fault(name); !fault.empty()) return fault;
  return keys_move() ? std::string(fault_in_cluster(key_of(name))) : std::string();
}

std::unique_ptr<seam::claim> retrying_layout::open(std::string_view name, seam::claim_sink& sink) {
  return std::make_unique<retrying_claim>(*this, key_of(name), sink);
}

void retrying_layout::inspect(std::string_view prefix, seam::holders_handler& to) {
  ask_all(to, [&](const lock_server& at, seam::holders_handler& part) {
    start_holders_query(at, *codec_, settings_.prefix, prefix, query_scope::all_that_begin_so,
                        part);
  });
}

void retrying_layout::holders(std::string_view name, seam::holders_handler& to) {
  start_holders_query(server_of(key_of(name)), *codec_, settings_.prefix, name,
                      query_scope::one_lock, to);
}

void retrying_layout::break_lock(std::string_view name, std::string_view seen,
                                 seam::decision_handler& to) {
  start_breaking(server_of(key_of(name)), *codec_, key_of(name), seen, to);
}

void retrying_layout::add(retrying_claim& c, std::string_view key) {
  c.key = key;
  c.slot = keys_move() ? slot_of(key) : slot_number{0};
  c.node = &node_of_lock(key);
  claims_.add(c);
}

// What is in flight is answered by the former server. It is of this claim, wherever that is.
void retrying_layout::on_keys_moved(time_point now, event_queue& events) {
  claims_.for_each([&](retrying_claim& c) {
    retrying_node& to = node_of_lock(c.key);
    if (&to == c.node) return;
    const bool was_listening = c.messages != nullptr;
    retrying_node& from = *c.node;
    from.stop_listening(c);
    from.renewals_due().forget(c);
    if (c.owner_id) from.count_owners(-1);
    c.node = &to;
    if (c.owner_id) to.count_owners(1);
    const bool is_heard =
        was_listening && to.subscribe(c, now) == retrying_reply::verdict::subscribed;
    from.hand_over_unsent(c, now);
    to.adopt(c, now, events);
    if (is_heard) c.on_subscribed(now, events);
  });
  tell_nodes_of_moved_keys(now);
}

void retrying_layout::remove(retrying_claim& c) noexcept {
  drop_owner(c);
  c.node->stop_listening(c);
  claims_.remove(c);
}

std::optional<retrying_reply> retrying_layout::submit(retrying_claim& c, retrying_operation op,
                                                      time_point now, event_queue&) {
  retrying_reply r;
  r.to = op;
  r.epoch = c.recipe().epoch();
  switch (op) {
    case retrying_operation::subscribe:
      r.what = c.node->subscribe(c, now);
      return r.what == retrying_reply::verdict::not_now ? std::nullopt : std::optional(r);
    case retrying_operation::withdraw:
      if (c.was_sent && !planted(mutant::withdrawal_dropped)) break;
      r.what = retrying_reply::verdict::done;  // the server has never seen this owner
      return r;
    case retrying_operation::renew: return c.node->renew(c), std::nullopt;
    default: break;
  }
  c.node->send(c, op, now);
  return {};
}

void retrying_layout::renew_owner(retrying_claim& c) {
  c.node->note_ended(c, env().now());
  drop_owner(c);
  c.owner_id.high = base::random_u64(env());
  c.owner_id.low = base::random_u64(env()) | 1;
  c.owner_since = env().now();
  c.owner_id.drawn = codec_->stamp_at(env().wall(), c.recipe().ttl());
  c.renewed = {};
  c.was_sent = c.had_place = false;
  c.queueing_tries = 0;
  c.node->count_owners(1);
}

void retrying_layout::drop_owner(retrying_claim& c) noexcept {
  if (!c.owner_id) return;
  c.owner_id = {};
  c.node->count_owners(-1);
}

void retrying_layout::withdraw_orphan(retrying_claim& c, time_point now, event_queue&) {
  if (!c.owner_id || !c.was_sent || planted(mutant::unknown_acquire_dropped)) return;
  const time_point end = base::saturating_add(now, c.recipe().ttl() + claims::late_request_max);
  reactor_.wake_by(c.node->orphans().add(now, *c.node, c, end));
}

std::string retrying_layout::text_of_owner(const retrying_claim& c) const {
  const retrying_recipe& r = c.recipe();
  const lock_mode mode = r.is_downgraded() ? lock_mode::shared : c.details.mode;
  return codec_->guarded_owner(c.owner_id, {mode, r.granted().number});
}

void retrying_layout::after_step(retrying_claim& c, time_point now) {
  if (c.recipe().is_idle()) {
    c.node->note_ended(c, now);
    drop_owner(c);
  }
  if (!c.recipe().wants_messages()) c.node->stop_listening(c);
  // A holder has the loop driven too: it must learn at once that a connection has ended, because
  // the name may lead to another server from then on.
  reactor_.count(c, c.recipe().waits(), c.recipe().is_held());
}

}  // namespace holdfast::redis
