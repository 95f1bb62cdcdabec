#include "backend/redis/topologies/cluster/cluster.hpp"

#include <algorithm>
#include <utility>

#include "backend/redis/topologies/discovery.hpp"
#include "backend/redis/topologies/several_servers.hpp"

namespace holdfast::redis {

using base::event_queue;
using base::failure;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t links_max = 64, asked_at_once = 3;
// Between two questions that requests give rise to, of which there may be many.
constexpr duration least_look_pause = 5ms;

}  // namespace

cluster::cluster(io::client_reactor& r, const settings& s, std::span<const script> all_scripts)
    : reactor_(r), settings_(s), scripts_(all_scripts) {
  cluster_link::listener& me = *this;
  for (const endpoint& e : s.seeds) links_.push_back(std::make_unique<cluster_link>(r, e, me));
  const std::lock_guard guard(r.mutex());
  make_shard();
  r.add(*this);
}

cluster::~cluster() {
  const std::lock_guard guard(reactor_.mutex());
  reactor_.remove(*this);
}

void cluster::on_commands_ready(time_point now) {
  if (!is_settled()) return;
  lost_at_ = base::never;
  look_soon(now + look_pause);  // and rests after that
}

void cluster::on_commands_lost(time_point now) {
  lost_at_ = std::min(lost_at_, now);
  look_soon(now);
}

void cluster::on_commands_refused(time_point now) {
  is_doubtful_ = true;
  look_soon(std::max(now, last_look_ + long_look_pause));
}

transport& cluster::node_of(std::string_view key) noexcept {
  const std::size_t i = map_.shard_of(slot_of(key)).value_or(0);
  return *nodes_[i < nodes_.size() ? i : 0];
}

// A late answer of a server that had the slot before says nothing of the one that has it now.
void cluster::on_redirected(std::string_view key, const transport& from, const redirection& r,
                            time_point now) {
  const bool is_moved = r.why == not_executed::moved;
  if (is_moved && &node_of(key) == &from) map_.mark_moved(slot_of(key), r.address());
  is_doubtful_ = is_doubtful_ || is_moved;
  // Where a slot is only on its way, MOVED follows.
  if (is_moved) look_soon(std::max(now, last_look_ + least_look_pause));
}

std::vector<transport*> cluster::with_keys() {
  std::vector<transport*> out;
  for (std::size_t i = 0; i < shards_.size(); ++i)
    if (has_slots(i)) out.push_back(nodes_[i]);
  return out;
}

void cluster::open(time_point now) {
  lost_at_ = now;
  look_soon(now);
}

void cluster::look_soon(time_point now) {
  next_look_ = std::min(next_look_, now);
  reactor_.wake_by(next_look_);
}

bool cluster::is_settled() const noexcept {
  if (!has_report_ || !map_.is_whole()) return false;
  for (std::size_t i = 0; i < shards_.size(); ++i)
    if (has_slots(i) &&
        (!shards_[i].over->is_ready(lane::commands) || shards_[i].over->is_led_elsewhere()))
      return false;
  return true;
}

bool cluster::has_slots(std::size_t i) const noexcept {
  return i < map_.shards().size() && map_.shards()[i].slots > 0;
}

bool cluster::is_in_use() const noexcept {
  return std::ranges::any_of(nodes_, [](const transport* t) { return t->is_in_use(); });
}

// While all masters work, one node is asked now and then, and another one each time: a client that
// waits for a message learns of a slot that has moved, and one whose node was cut off from the
// others learns what these say.
void cluster::look_if_due(time_point now) {
  if (next_look_ == base::never) return;
  if (now < next_look_) {
    reactor_.wake_by(next_look_);
    return;
  }
  last_look_ = now;
  const bool settled = is_settled() && !std::exchange(is_doubtful_, false);
  for (std::size_t i = 0; i < std::min<std::size_t>(settled ? 1 : asked_at_once, links_.size());
       ++i) {
    links_[next_link_ % links_.size()]->ask(now);
    ++next_link_;
  }
  duration pause = look_pause;
  if (settled) {
    lost_at_ = base::never;
    pause = settings_.probe;
  } else if (lost_at_ < now - failover_max) {
    pause = long_look_pause;
  }
  const bool goes_on = !settled || (pause != duration::zero() && is_in_use());
  next_look_ = goes_on ? now + base::jittered(reactor_.env(), pause, 0.25) : base::never;
  if (goes_on) reactor_.wake_by(next_look_);
}

void cluster::on_alarm(time_point now, event_queue& events) {
  for (std::size_t i = 0; i < links_.size(); ++i) links_[i]->on_alarm(now, events);
  if (next_look_ == base::never && settings_.probe != duration::zero() && is_in_use())
    look_soon(now + settings_.probe);
  look_if_due(now);
}

void cluster::flush(std::unique_lock<std::mutex>& lock, base::driven_by loop) noexcept {
  // By number: the mutex is released meanwhile, and there may be more of them afterwards.
  if (loop == base::driven_by::thread)
    for (std::size_t i = 0; i < links_.size(); ++i) links_[i]->write(lock);
}

void cluster::on_reported(const std::vector<cluster_node>& all, time_point now,
                          event_queue& events) {
  const bool is_news = map_.learn(all);
  has_report_ = true;
  add_links(all);
  if (is_news) follow_masters(now, events);
  if (is_settled() && !is_doubtful_) {
    for (std::size_t i = 0; i < links_.size(); ++i) links_[i]->rest(now, events);
  } else if (next_look_ == base::never) {
    look_soon(now + look_pause);
  }
  reactor_.wake_by(now);  // a thread that waits for the first connection learns the reason
}

void cluster::on_silent_node(time_point now) {
  if (!has_report_) look_soon(std::max(now, last_look_ + look_pause));
  reactor_.wake_by(now);
}

// With the mutex.
void cluster::make_shard() {
  constexpr auto is_held = transport::reactor_mutex::is_held;
  shards_.push_back({std::make_unique<transport>(reactor_, settings_, scripts_, is_held)});
  const shard& made = shards_.back();
  made.over->await_address();
  made.over->serve(watch_);
  nodes_.push_back(made.over.get());
  if (observer_) observer_->on_new_node(*made.over);
}

void cluster::follow_masters(time_point now, event_queue& events) {
  const auto& known = map_.shards();
  while (shards_.size() < std::min(known.size(), shards_max)) make_shard();
  for (std::size_t i = 0; i < shards_.size(); ++i) {
    const base::address at = settings_.reachable(known[i].at);
    if (at.host.empty() || is_same_address(at, shards_[i].led_to)) continue;
    shards_[i].led_to = at;
    shards_[i].over->lead_to(at, now, events);
  }
  for (std::size_t i = 0; i < shards_.size(); ++i)
    in_use_[i].store(has_slots(i) ? nodes_[i] : nullptr, std::memory_order_release);
  if (observer_) observer_->on_keys_moved(now, events);
}

// Of the nodes that are not in the URL, those that can be asked.
void cluster::add_links(const std::vector<cluster_node>& all) {
  for (const cluster_node& n : all) {
    const base::address at = settings_.reachable(n.at);
    const auto is_it = [&](const auto& l) { return is_same_address(l->where(), at); };
    const bool is_usable = !n.has_failed && at.port != 0 && !at.host.empty();
    if (!is_usable || links_.size() >= links_max || std::ranges::any_of(links_, is_it)) continue;
    endpoint e = settings_.seeds.front();
    e.move_to(at);
    e.text = base::text_of(at);
    cluster_link::listener& me = *this;
    links_.push_back(std::make_unique<cluster_link>(reactor_, std::move(e), me));
  }
}

bool cluster::is_open() const noexcept {
  if (!is_settled()) return false;
  for (std::size_t i = 0; i < shards_.size(); ++i)
    if (has_slots(i) && !shards_[i].over->is_open()) return false;
  return true;
}

std::string cluster::faults() const {
  failed_servers out;
  for (const auto& l : links_)
    if (l->fault().code) out.add(base::text_of(l->where()), l->fault().text);
  return out.list();
}

failure cluster::why_not_open(bool is_overdue) const {
  if (!has_report_) {
    const auto is_out = [](const auto& l) { return l->has_failed_for_good(); };
    for (const auto& l : links_)
      if (is_out(l) && l->fault().code != errc::unavailable) return l->fault();
    if (!is_overdue && !std::ranges::all_of(links_, is_out)) return {};
    const std::string why = faults();
    return {errc::unavailable, why.empty() ? "no node of the cluster answers"
                                           : "no node of the cluster can be queried: " + why};
  }
  for (std::size_t i = 0; i < shards_.size(); ++i) {
    if (!has_slots(i) || shards_[i].over->is_open()) continue;
    failure why = shards_[i].over->why_not_open(is_overdue);
    // One that is down may be replaced in a moment.
    if (!why.code || (!is_overdue && why.code == errc::unavailable)) continue;
    const std::string announced = base::text_of(map_.shards()[i].at);
    why.text = "the master at " + announced + ", as the cluster announces it: " + why.text;
    if (why.code == errc::unavailable)
      why.text += "; where this client reaches it elsewhere, give ?map=" + announced + "=host:port";
    return why;
  }
  if (!is_overdue) return {};
  if (const auto slot = map_.first_without_shard())
    return {errc::unavailable, "no node of the cluster serves the slot " + std::to_string(*slot) +
                                   "; see CLUSTER NODES, and assign it"};
  return {errc::unavailable, "not all masters of the cluster answer within the op-timeout"};
}

bool cluster::is_unavailable() const noexcept {
  return std::ranges::any_of(in_use_, [](const auto& each) {
    const transport* const t = each.load(std::memory_order_acquire);
    return t && t->is_unavailable();
  });
}

seam::connection_status cluster::status() const {
  seam::connection_status out;
  for (std::size_t i = 0; i < shards_.size(); ++i) {
    if (!has_slots(i)) continue;
    const seam::connection_status one = shards_[i].over->read_status();
    const std::string at = base::text_of(map_.shards()[i].at);
    out.connected = out.connected && one.connected;
    out.reconnects += one.reconnects;
    if (!one.last_failure.empty()) out.last_failure = at + ' ' + one.last_failure;
    if (one.trouble.code && !out.trouble.code)
      out.trouble = {one.trouble.code, at + ": " + one.trouble.text};
  }
  return out;
}

}  // namespace holdfast::redis
