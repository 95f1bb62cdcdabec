// The side towards the claims: the contract of claims::store_of, and the session's life.
#include "backend/zookeeper/layouts/sequential_layout.hpp"

#include <algorithm>
#include <utility>

#include "backend/zookeeper/layouts/lock_path.hpp"
#include "backend/zookeeper/layouts/node_data.hpp"
#include "backend/zookeeper/layouts/sequential_queries.hpp"
#include "base/mutant.hpp"

namespace holdfast::zookeeper {

using core::event_queue;
using core::mutant;
using core::planted;

sequential_layout::sequential_layout(core::environment& env, const settings& s,
                                     std::unique_ptr<const sequential_codec> c)
    : env_(env), settings_(s), codec_(std::move(c)), process_(env.process()) {}

void sequential_layout::detach() noexcept {
  removals_.clear();
  claims_.for_each([&](sequential_claim& c) { sleepers_.set(c, core::never); });
}

std::string sequential_layout::name_fault(std::string_view name) const {
  return std::string(lock_name_fault(settings_.chroot, name));
}

std::unique_ptr<core::claim> sequential_layout::open(std::string_view name,
                                                     core::claim_sink& sink) {
  return std::make_unique<sequential_claim>(*this, name, sink);
}

void sequential_layout::inspect(std::string_view prefix, core::holders_handler& to) {
  start_inspection(*over_, *codec_, settings_.chroot, prefix, to);
}

void sequential_layout::holders(std::string_view name, core::holders_handler& to) {
  start_holders_query(*over_, *codec_, settings_.chroot, name, to);
}

void sequential_layout::break_lock(std::string_view name, std::string_view seen,
                                   core::decision_handler& to) {
  start_breaking(*over_, *codec_, lock_path(settings_.chroot, name), seen, to);
}

void sequential_layout::end_claims(errc code, const std::string& why, time_point now,
                                   event_queue& events) {
  claims_.for_each([&](sequential_claim& c) { c.give_up(code, why, now, events); });
}

bool sequential_layout::is_dispatching() const {
  bool out = false;
  claims_.for_each([&](const sequential_claim& c) { out = out || c.is_dispatching(); });
  return out;
}

void sequential_layout::add(sequential_claim& c, std::string_view name) {
  c.path = lock_path(settings_.chroot, name);
  c.place = claims_.add(c);
  by_path_.emplace(c.path, &c);
}

void sequential_layout::remove(sequential_claim& c) noexcept {
  sleepers_.set(c, core::never);
  claims_.remove(c.place);
  const auto [first, last] = by_path_.equal_range(c.path);
  const auto found = std::find_if(first, last, [&](const auto& at) { return at.second == &c; });
  by_path_.erase(found);
}

void sequential_layout::renew_owner(sequential_claim& c) {
  if (planted(mutant::owner_id_reused) && c.attempt) return;
  constexpr std::uint64_t version_mask = 0xf000, version_4 = 0x4000;
  constexpr std::uint64_t variant_mask = 3ull << 62, variant = 2ull << 62;
  c.attempt.high = (core::random_u64(env_) & ~version_mask) | version_4;
  c.attempt.low = (core::random_u64(env_) & ~variant_mask) | variant;
  c.node.clear();
  c.next_node.clear();
  c.blocker.clear();
  c.czxid = c.blocker_czxid = 0;
  c.makes_parent = false;
}

void sequential_layout::withdraw_orphan(sequential_claim& c, time_point now, event_queue&) {
  if (c.attempt) remove_later(c, now);
}

void sequential_layout::wake_at(sequential_claim& c, time_point t) {
  sleepers_.set(c, t);
  over_->tick_by(t);
}

void sequential_layout::after_step(sequential_claim& c, time_point) noexcept {
  if (c.recipe().is_idle()) c.attempt = {};
}

std::string sequential_layout::reason(const sequential_claim&, errc why) const {
  if (ended_.code) return ended_.text;
  const std::string& last = over_->of_session().last_failure().text;
  if (why == errc::unavailable) return last.empty() ? "no answer within the op-timeout" : last;
  return {};
}

std::string sequential_layout::data_of(const sequential_claim& c) const {
  return text_of(node_owner{process_.host, process_.pid, std::string(c.note())});
}

void sequential_layout::on_attached(bool is_new, time_point now, event_queue& events) {
  out_since_ = core::never;
  servers_failed_ = 0;
  if (is_new) return;
  claims_.for_each([&](sequential_claim& c) {
    c.on([](sequential_recipe& r) { return r.on_attached(); }, now, events);
  });
  for (removal& r : removals_)
    if (r.is_cut) r.start(now);
}

void sequential_layout::on_deadline(time_point deadline, event_queue& events) {
  claims_.for_each([&](sequential_claim& c) {
    c.on([&](sequential_recipe& r) { return r.on_deadline(deadline); }, deadline, events);
  });
}

void sequential_layout::on_doubtful(event_queue& events) {
  claims_.for_each([&](sequential_claim& c) {
    c.on([](sequential_recipe& r) { return r.on_doubtful(); }, {}, events);
  });
}

// Its nodes go with it.
void sequential_layout::on_session_lost(const core::failure&, event_queue& events) {
  removals_.clear();
  const time_point now = env_.now();
  claims_.for_each([&](sequential_claim& c) {
    c.on([&](sequential_recipe& r) { return r.on_session_lost(now, rules()); }, now, events);
  });
}

template <class Each>
void sequential_layout::for_each_at(std::string_view path, Each each) {
  std::vector<sequential_claim*> all;  // an event may end the wait of one
  const auto [first, last] = by_path_.equal_range(path);
  for (auto at = first; at != last; ++at) all.push_back(at->second);
  for (sequential_claim* c : all) each(*c);
}

void sequential_layout::on_watch(const watch_event& e, time_point now, event_queue& events) {
  if (e.kind == event_kind::children)
    return for_each_at(e.path, [&](sequential_claim& c) {
      c.on([](sequential_recipe& r) { return r.on_children(); }, now, events);
    });
  const std::size_t end = e.path.rfind('/');
  if (end == std::string_view::npos) return;
  const std::string_view node = e.path.substr(end + 1);
  const bool has_ended = e.kind == event_kind::deleted;
  const session_deadline& by = over_->of_session().deadline();
  for_each_at(e.path.substr(0, end), [&](sequential_claim& c) {
    if (c.node == node) {
      c.on([&](sequential_recipe& r) { return r.on_own_node(has_ended, now, rules()); }, now,
           events);
    } else if (c.blocker == node) {
      const bool proves = has_ended && c.blocker_czxid != 0 && c.blocker_czxid < c.czxid;
      c.on([&](sequential_recipe&
                   r) { return r.on_blocker(proves, by.deadline(), by.timeout(), now, rules()); },
           now, events);
    }
  });
}

// Where no server can be reached at all, one attempt has been made.
void sequential_layout::on_down(const core::failure& why, time_point now, event_queue& events) {
  if (out_since_ == core::never) out_since_ = now;
  if (rules().outage_timeout != duration::max())
    over_->tick_by(core::saturating_add(out_since_, rules().outage_timeout));
  if (++servers_failed_ < settings_.servers.size()) return;
  claims_.for_each([&](sequential_claim& c) {
    if (c.recipe().is_attempt()) c.give_up(errc::unavailable, why.text, now, events);
  });
}

void sequential_layout::on_ended(const core::failure& why, event_queue& events) {
  ended_ = why.code ? why : core::failure{errc::closed, "the client was closed"};
  removals_.clear();
  end_claims(static_cast<errc>(ended_.code.value()), ended_.text, env_.now(), events);
}

void sequential_layout::on_tick(time_point now, event_queue& events) {
  end_waits(now, events);
  while (core::heap_timer* const due = sleepers_.take_due(now))
    static_cast<sequential_claim*>(due)->on_wake(now, events);
  over_->tick_by(sleepers_.next());
  for (removal& r : removals_) {
    if (r.retry_at <= now) r.start(now);
    over_->tick_by(r.retry_at);
  }
}

void sequential_layout::end_waits(time_point now, event_queue& events) {
  const duration most = rules().outage_timeout;
  if (most == duration::max() || out_since_ == core::never) return;
  const time_point end = core::saturating_add(out_since_, most);
  if (end > now) return over_->tick_by(end);
  claims_.for_each([&](sequential_claim& c) {
    if (c.recipe().is_waiter())
      c.give_up(errc::unavailable, over_->of_session().last_failure().text, now, events);
  });
}

}  // namespace holdfast::zookeeper
