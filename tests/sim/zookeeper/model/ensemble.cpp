#include "tests/sim/zookeeper/model/ensemble.hpp"

#include <algorithm>
#include <utility>

#include "tests/sim/zookeeper/model/leadership.hpp"

namespace holdfast::sim::zk {

namespace {

constexpr int shortest_timeout = 2, longest_timeout = 20;  // ticks

}  // namespace

ensemble::ensemble(ensemble_host& h, const ensemble_options& o)
    : host_(h), options_(o), links_(static_cast<std::size_t>(o.servers * o.servers)) {
  for (int id = 1; id <= o.servers; ++id) {
    replicas_.push_back(std::make_unique<replica>(id, *this));
    const auto tick_ms = static_cast<std::int32_t>(o.tick.count());
    bound_timeouts(id, tick_ms * shortest_timeout, tick_ms * longest_timeout);
  }
  const auto first = static_cast<int>(h.chance().below(static_cast<std::uint64_t>(voters()))) + 1;
  lead(of(first));
  for (const auto& r : replicas_) {
    if (r->id != first) join(*r, of(first));
    if (o.servers > 1) at_server(r->id, h.now() + o.tick / 2, [this, &r = *r] { tick(r); });
  }
}

ensemble::~ensemble() = default;

int ensemble::connect(peer& to, int server) {
  const int number = ++connections_made_;
  servers_of_[number] = server;
  of(server).connect(number, to);
  return number;
}

int ensemble::server_of(int connection) const {
  const auto found = servers_of_.find(connection);
  return found == servers_of_.end() ? 0 : found->second;
}

void ensemble::receive(int connection, std::string_view bytes) {
  const int server = server_of(connection);
  if (server == 0 || of(server).is_down) return;
  run_at(server, of(server).boot,
         [this, server, connection, b = std::string(bytes)] { of(server).receive(connection, b); });
}

void ensemble::forget_peer(int connection) {
  const int server = server_of(connection);
  if (auto* const c = server ? of(server).find(connection) : nullptr) c->to = nullptr;
}

void ensemble::disconnect(int connection) {
  forget_peer(connection);
  const int server = server_of(connection);
  if (server == 0) return;
  if (of(server).is_down) {
    servers_of_.erase(connection);
    return;
  }
  run_at(server, of(server).boot, [this, server, connection] {
    of(server).disconnect(connection);
    servers_of_.erase(connection);
  });
}

bool ensemble::is_connected(int connection) const {
  const int server = server_of(connection);
  if (server == 0) return false;
  const auto* const c = const_cast<replica&>(at(server)).find(connection);
  return c && c->is != connection::fixture::closed;
}

bool ensemble::leads_a_quorum(const replica& r) const {
  const auto followers = std::ranges::count_if(replicas_, [&](const auto& other) {
    return votes(*other) && are_linked(r, *other) && can_talk(r, *other);
  });
  return r.leads && !r.is_down && !r.is_stopped &&
         static_cast<std::size_t>(followers) + 1 >= quorum();
}

bool ensemble::is_in_service(int connection) const {
  const int server = server_of(connection);
  if (server == 0) return false;
  const replica& r = at(server);
  const auto* const c = const_cast<replica&>(r).find(connection);
  if (!c || c->is != connection::fixture::attached || c->is_read_only) return false;
  if (r.leads) return leads_a_quorum(r);
  if (r.is != role::following) return false;
  const replica& leader = at(r.leader);
  return are_linked(r, leader) && can_talk(r, leader) && leads_a_quorum(leader);
}

bool ensemble::is_attached(std::int64_t session) const {
  return std::ranges::any_of(replicas_, [&](const auto& r) {
    return !r->is_down && !r->is_stopped && r->has(session);
  });
}

int ensemble::leader() const {
  const replica* newest = nullptr;
  for (const auto& r : replicas_)
    if (r->leads && !r->is_down && (!newest || r->leads->epoch > newest->leads->epoch))
      newest = r.get();
  return newest ? newest->id : 0;
}

bool ensemble::serves_reads(const replica& r) const {
  constexpr int looks_for = 2;  // ticks
  return options_.serves_reads_alone && r.is == role::looking &&
         host_.now() - r.looking_since >= options_.tick * looks_for;
}

std::string ensemble::mode_text(const replica& r) const {
  if (r.is == role::looking && !serves_reads(r))
    return "This ZooKeeper instance is not currently serving requests\n";
  const char* const mode = r.is == role::looking   ? "read-only"
                           : replicas_.size() == 1 ? "standalone"
                           : r.leads               ? "leader"
                           : votes(r)              ? "follower"
                                                   : "observer";
  return "Zookeeper version: 3.8.0, built on a model\nLatency min/avg/max: 0/0.0/0\nMode: " +
         std::string(mode) + "\nNode count: " + std::to_string(r.state.nodes().size()) + '\n';
}

bool ensemble::draws_parked() {
  return options_.parked_share > 0 && host_.chance().chance(options_.parked_share);
}

void ensemble::note_output(int connection) {
  if (std::ranges::find(output_, connection) == output_.end()) output_.push_back(connection);
}

void ensemble::read_on_later(int connection) { reading_.push_back(connection); }

void ensemble::flush() {
  while (!reading_.empty()) {
    const int number = reading_.front();
    reading_.erase(reading_.begin());
    if (const int server = server_of(number)) of(server).read_on(number);
  }
  for (const int number : std::exchange(output_, {})) {
    const int server = server_of(number);
    connection* const c = server ? of(server).find(number) : nullptr;
    if (!c) continue;
    const std::string out = std::exchange(c->out, {});
    if (c->to && !out.empty()) c->to->deliver(out);
    if (c->is != connection::fixture::closed) continue;
    if (c->to) c->to->kicked();
    of(server).disconnect(number);
  }
}

void ensemble::at_server(int server, moment when, deed d) {
  host_.at(when, [this, server, boot = of(server).boot, what = std::move(d)] {
    run_at(server, boot, what, true);
  });
}

void ensemble::at_term(int server, moment when, deed d) {
  at_server(server, when, [this, server, term = of(server).term, what = std::move(d)] {
    if (of(server).term == term) what();
  });
}

void ensemble::run_at(int server, std::uint64_t boot, const deed& d, bool is_by_clock) {
  replica& r = of(server);
  if (r.is_down || r.boot != boot) return;
  if (r.is_stopped) {
    r.held.push_back({d, is_by_clock});
    return;
  }
  d();
  flush();
}

ensemble::link& ensemble::between(int from, int to) {
  return links_[static_cast<std::size_t>((from - 1) * servers() + to - 1)];
}

// One of the two leads the other, and both know it.
bool ensemble::are_linked(const replica& a, const replica& b) {
  const auto leads = [](const replica& leader, const replica& follower) {
    return leader.leads && leader.leads->followers.contains(follower.id) &&
           follower.is == role::following && follower.leader == leader.id &&
           follower.accepted_epoch == leader.leads->epoch;
  };
  return leads(a, b) || leads(b, a);
}

void ensemble::send(int from, int to, deed d) {
  if (!are_linked(of(from), of(to))) return;
  link& l = between(from, to);
  l.arrives = std::max(l.arrives + moment(1), host_.now() + host_.delay());
  host_.at(l.arrives, [this, from, to, a = of(from).term, b = of(to).term, what = std::move(d)] {
    arrive(from, to, a, b, what);
  });
}

void ensemble::arrive(int from, int to, std::uint64_t from_term, std::uint64_t to_term,
                      const deed& d) {
  link& l = between(from, to);
  if (host_.now() < l.frozen_until) {
    l.arrives = std::max(l.arrives, l.frozen_until);
    return host_.at(l.frozen_until,
                    [=, this, what = d] { arrive(from, to, from_term, to_term, what); });
  }
  run_at(to, of(to).boot, [=, this, what = d] {
    if (of(from).term == from_term && of(to).term == to_term) what();
  });
}

bool ensemble::is_frozen(int from, int to) const {
  const auto place = static_cast<std::size_t>((from - 1) * servers() + to - 1);
  return links_[place].frozen_until > host_.now();
}

bool ensemble::can_talk(const replica& a, const replica& b) const {
  const bool runs = !a.is_down && !b.is_down && !a.is_stopped && !b.is_stopped;
  return runs && !is_frozen(a.id, b.id) && !is_frozen(b.id, a.id);
}

}  // namespace holdfast::sim::zk
