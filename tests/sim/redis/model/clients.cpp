// Connections of the server: opened, served, closed, and told what is published.
#include <algorithm>
#include <utility>

#include "tests/sim/redis/model/redis_cluster.hpp"
#include "tests/sim/redis/model/server.hpp"

namespace holdfast::sim {

connection& server::open(peer& end) {
  auto one = std::make_unique<connection>();
  one->handle = ++last_handle_;
  one->id = ++last_id_;
  one->end = &end;
  one->trusted = !passwords.contains("default");
  return *connections.emplace(one->handle, std::move(one)).first->second;
}

connection* server::find(int handle) {
  const auto found = connections.find(handle);
  return found == connections.end() ? nullptr : found->second.get();
}

void server::close(int handle, bool tell) {
  const auto node = connections.extract(handle);
  if (node.empty()) return;
  connection& c = *node.mapped();
  while (!c.channels.empty()) unsubscribe(c, std::string(c.channels.back()));
  std::erase(pending_, &c);
  if (tell) c.end->kicked();
}

void server::close_all() {
  while (!connections.empty()) close(connections.begin()->first, true);
}

void server::close_subscribers() {
  std::vector<int> all;
  for (const auto& [handle, one] : connections)
    if (!one->channels.empty()) all.push_back(handle);
  for (const int handle : all) close(handle, true);
}

void server::owes(connection& c) {
  if (std::exchange(c.pending, true)) return;
  pending_.push_back(&c);
}

void server::deliver_all() {
  for (std::size_t i = 0; i < pending_.size(); ++i) {
    connection& c = *pending_[i];
    c.pending = false;
    c.end->deliver(c.out);
    c.out.clear();
  }
  pending_.clear();
}

// Replicated or passed on in a cluster, and counted only here.
long long server::publish(std::string_view channel, std::string_view message) {
  has_published_ = has_published_ || !readonly;
  if (to_replica) published_.emplace_back(channel, message);
  if (cluster) cluster->pass_on(*this, channel, message);
  return send_to_subscribers(channel, message);
}

long long server::send_to_subscribers(std::string_view channel, std::string_view message) {
  const auto found = channels.find(channel);
  if (found == channels.end()) return 0;
  for (connection* const c : found->second) {
    resp_writer out(c->out);
    out.array(3);
    out.bulk("message");
    out.bulk(channel);
    out.bulk(message);
    owes(*c);
  }
  return static_cast<long long>(found->second.size());
}

void server::subscribe(connection& c, std::string_view channel) {
  if (std::find(c.channels.begin(), c.channels.end(), channel) != c.channels.end()) return;
  c.channels.emplace_back(channel);
  channels[std::string(channel)].push_back(&c);
}

void server::unsubscribe(connection& c, std::string_view channel) {
  if (std::erase(c.channels, channel) == 0) return;
  const auto found = channels.find(channel);
  std::erase(found->second, &c);
  if (found->second.empty()) channels.erase(found);
}

}  // namespace holdfast::sim
