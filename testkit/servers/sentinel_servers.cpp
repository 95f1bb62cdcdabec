#include "testkit/servers/sentinel_servers.hpp"

#include <algorithm>
#include <stdexcept>

#include "testkit/eventually.hpp"

namespace holdfast::testkit {
namespace {

// A failover that fails on a busy machine is repeated after twice its timeout.
constexpr std::chrono::seconds agreement_bound{90};

std::string address_of(int port) { return "127.0.0.1 " + std::to_string(port); }

// Sentinels that cannot be told to ping more often than once a second (see redis_sentinel.cpp) take
// a healthy new master for dead if less than that makes it so, and promote another one beside it.
constexpr std::chrono::milliseconds least_down_after_of_slow_pings{2000};

// Of a reply that lists fields and values in turn.
std::string field_of(const redis_reply& fields, const std::string& name) {
  for (std::size_t i = 0; i + 1 < fields.items.size(); i += 2)
    if (fields.items[i].text == name) return fields.items[i + 1].text;
  return {};
}

bool all_flags_are(const redis_reply& list, std::size_t count, const std::string& flags) {
  return list.items.size() == count && std::ranges::all_of(list.items, [&](const auto& each) {
           return field_of(each, "flags") == flags;
         });
}

}  // namespace

sentinel_servers::sentinel_servers(const sentinel_options& options) : options_(options) {
  if (options_.tls) certificates_.emplace(folder_);
  for (std::size_t i = 0; i < servers; ++i)
    servers_.push_back(std::make_unique<redis_server>(server_options()));
  for (std::size_t i = 1; i < servers; ++i) servers_[i]->replicate(*servers_[0]);
  for (std::size_t i = 0; i < options_.sentinels; ++i)
    sentinels_.push_back(std::make_unique<redis_sentinel>());
  for (const auto& each : sentinels_) {
    each->configure(lines_for(*each));
    each->start();
  }
  wait_until_all_know_each_other();
}

std::vector<std::string> sentinel_servers::tls_lines() const {
  if (!certificates_) return {};
  return {"tls-cert-file " + certificates_->certificate("server"),
          "tls-key-file " + certificates_->key("server"),
          "tls-ca-cert-file " + certificates_->certificate("ca"), "tls-replication yes",
          "tls-auth-clients no"};
}

// Replicas log in to their master as the user that the test itself uses.
redis_options sentinel_servers::server_options() const {
  redis_options all = options_.servers;
  all.config.insert(all.config.end(), {"masteruser testkit", "masterauth any"});
  if (options_.tls) all.tls = "server";
  for (const std::string& line : tls_lines()) all.config.push_back(line);
  return all;
}

// The replicas and the other sentinels stand in the file of each, as after a restart: to discover
// them takes Sentinel some seconds.
std::vector<std::string> sentinel_servers::lines_for(const redis_sentinel& sentinel) const {
  const std::string main = std::string(name()) + ' ';
  std::vector<std::string> lines = tls_lines();
  const std::string port = std::to_string(sentinel.port());
  if (options_.tls) lines.insert(lines.end(), {"port 0", "tls-port " + port});
  if (!options_.password.empty()) lines.push_back("requirepass " + options_.password);
  if (!options_.acl.empty()) lines.push_back("user " + options_.acl);
  lines.push_back("sentinel monitor " + main + address_of(servers_[0]->port()) + ' ' +
                  std::to_string(options_.quorum));
  const auto add = [&](const std::string& option, const std::string& value) {
    lines.push_back("sentinel " + option + ' ' + main + value);
  };
  const auto down_after = tested_redis().is_at_least(7, 0)
                              ? options_.down_after
                              : std::max(options_.down_after, least_down_after_of_slow_pings);
  add("down-after-milliseconds", std::to_string(down_after.count()));
  add("failover-timeout", std::to_string(options_.failover_timeout.count()));
  add("auth-user", "testkit");
  add("auth-pass", "any");
  for (std::size_t i = 1; i < servers; ++i) add("known-replica", address_of(servers_[i]->port()));
  for (const auto& other : sentinels_)
    if (other.get() != &sentinel)
      add("known-sentinel", address_of(other->port()) + ' ' + other->id());
  if (tested_redis().is_at_least(6, 2))
    lines.insert(lines.end(), {"sentinel sentinel-user testkit", "sentinel sentinel-pass any"});
  return lines;
}

bool sentinel_servers::knows_all(redis_sentinel& sentinel) const {
  const redis_reply replicas = sentinel.command({"SENTINEL", "REPLICAS", name()});
  return field_of(sentinel.command({"SENTINEL", "MASTER", name()}), "flags") == "master" &&
         all_flags_are(replicas, servers - 1, "slave") &&
         std::ranges::all_of(replicas.items,
                             [](const auto& r) {
                               return field_of(r, "master-link-status") == "ok";
                             }) &&
         all_flags_are(sentinel.command({"SENTINEL", "SENTINELS", name()}), sentinels_.size() - 1,
                       "sentinel");
}

void sentinel_servers::wait_until_all_know_each_other() {
  wait_until("do not know each other", [&] {
    return std::ranges::all_of(sentinels_, [&](const auto& each) { return knows_all(*each); });
  });
}

void sentinel_servers::wait_until(const std::string& what, const std::function<bool()>& is_so) {
  if (!eventually(is_so, agreement_bound))
    throw std::runtime_error("the sentinels of a test " + what + ": " + logs());
}

// A server that was promoted has the replication id of its former master as its second. One that
// was started again is a master without that, and sentinels may select it nevertheless: then
// REPLICAOF NO ONE changes nothing there, and only the sentinels show that it was promoted.
std::optional<std::size_t> sentinel_servers::promoted(std::optional<std::size_t> named_before) {
  for (std::size_t i = 0; i < servers; ++i) {
    if (i == master_) continue;
    if (reports(*servers_[i], "role", [](const auto& role) { return role == "master"; }) &&
        (reports(*servers_[i], "master_replid2",
                 [](const auto& id) { return id.find_first_not_of('0') != std::string::npos; }) ||
         (named_before != i && is_published(i))))
      return i;
  }
  return std::nullopt;
}

redis_server& sentinel_servers::wait_until_promoted() {
  std::optional<std::size_t> found, named_before;
  for (std::size_t i = 0; i < servers; ++i)
    if (is_published(i)) named_before = i;
  wait_until("promote no server", [&] { return (found = promoted(named_before)).has_value(); });
  master_ = *found;
  return master();
}

std::string sentinel_servers::named_by(redis_sentinel& sentinel) {
  try {
    const redis_reply named = sentinel.command({"SENTINEL", "GET-MASTER-ADDR-BY-NAME", name()});
    return named.items.size() == 2 ? named.items[1].text : std::string();
  } catch (const redis_silent&) {
    return {};
  }
}

bool sentinel_servers::is_published(std::size_t as_master) const {
  const std::string port = std::to_string(servers_[as_master]->port());
  return std::ranges::all_of(sentinels_, [&](const auto& each) {
    return !each->is_running() || named_by(*each) == port;
  });
}

void sentinel_servers::wait_until_published() {
  wait_until("do not name the promoted server", [&] { return is_published(master_); });
}

void sentinel_servers::wait_until_settled() {
  wait_until("do not settle on a master", [&] {
    for (std::size_t i = 0; i < servers; ++i)
      if (is_published(i)) master_ = i;
    return is_published(master_) &&
           reports(master(), "role", [](const auto& role) { return role == "master"; }) &&
           std::ranges::all_of(servers_, [&](const auto& each) {
             return each.get() == &master() || is_in_sync(*each);
           });
  });
}

bool sentinel_servers::reports(redis_server& server, const std::string& field,
                               const std::function<bool(const std::string&)>& is_so) {
  try {
    return is_so(server.info(field));
  } catch (const redis_silent&) {
    return false;
  }
}

bool sentinel_servers::is_in_sync(redis_server& replica) {
  const std::string port = std::to_string(master().port());
  return reports(replica, "role", [](const auto& role) { return role == "slave"; }) &&
         reports(replica, "master_port", [&](const auto& of) { return of == port; }) &&
         reports(replica, "master_link_status", [](const auto& is) { return is == "up"; });
}

void sentinel_servers::wait_until_replica(redis_server& server) {
  wait_until("leave a server without its master", [&] { return is_in_sync(server); });
}

void sentinel_servers::wait_until_left(const redis_server& former_master) {
  for (const auto& each : servers_)
    if (each.get() != &former_master && each.get() != &master()) wait_until_replica(*each);
}

void sentinel_servers::wait_until_copied() {
  const long long written = std::stoll(master().info("master_repl_offset"));
  wait_until("leave a replica behind", [&] {
    return std::ranges::all_of(servers_, [&](const auto& each) {
      return each.get() == &master() ||
             reports(*each, "slave_repl_offset", [&](const auto& copied) {
               return !copied.empty() && std::stoll(copied) >= written;
             });
    });
  });
}

void sentinel_servers::fail_over() {
  redis_reply answer;
  wait_until("refuse a failover", [&] {
    answer = sentinel(0).command({"SENTINEL", "FAILOVER", name()});
    return !answer.is_error();
  });
}

std::string sentinel_servers::url(const std::string& user) const {
  std::string out = (options_.tls ? "rediss+sentinel://" : "redis+sentinel://") + user;
  for (const auto& each : sentinels_)
    out.append(each == sentinels_.front() ? "" : ",")
        .append("127.0.0.1:" + std::to_string(each->port()));
  return out + '/' + name();
}

std::string sentinel_servers::logs() const {
  std::string all;
  for (const auto& each : sentinels_) all += '\n' + each->log();
  return all;
}

}  // namespace holdfast::testkit
