#include <string>

#include "redis/fixture.hpp"
#include "survey/deployment.hpp"
#include "testkit/servers/cluster_servers.hpp"
#include "testkit/servers/redis_shards.hpp"
#include "testkit/servers/redlock_servers.hpp"
#include "testkit/servers/sentinel_servers.hpp"

namespace survey {
namespace {

using namespace holdfast::testkit;

double commands_of(redis_server& server) { return static_cast<double>(bench::commands_of(server)); }

// The memory of all keys. That of the whole server changes with the buffers of connections too.
double memory_of(redis_server& server) {
  return std::stod(server
                       .command({"EVAL",
                                 "local sum = 0 "
                                 "for _, key in ipairs(redis.call('KEYS', '*')) do "
                                 "sum = sum + (redis.call('MEMORY', 'USAGE', key) or 0) end "
                                 "return tostring(sum)",
                                 "0"})
                       .text);
}

class single final : public deployment {
 public:
  std::string url() const override { return server_.url(); }
  std::vector<pid_t> servers() const override { return {server_.pid()}; }
  double commands() override { return commands_of(server_); }
  double memory() override { return memory_of(server_); }

 private:
  redis_server server_;
};

class sentinel final : public deployment {
 public:
  std::string url() const override { return servers_.url(); }
  std::vector<pid_t> servers() const override {
    std::vector<pid_t> all;
    for (std::size_t i = 0; i < sentinel_servers::servers; ++i)
      all.push_back(servers_.server(i).pid());
    for (std::size_t i = 0; i < servers_.sentinel_count(); ++i)
      all.push_back(servers_.sentinel(i).pid());
    return all;
  }
  double commands() override { return commands_of(servers_.master()); }
  double memory() override { return memory_of(servers_.master()); }

 private:
  mutable sentinel_servers servers_;
};

class cluster final : public deployment {
 public:
  std::string url() const override { return servers_.url(); }
  std::vector<pid_t> servers() const override {
    std::vector<pid_t> all;
    for (std::size_t i = 0; i < servers_.server_count(); ++i)
      all.push_back(servers_.server(i).pid());
    return all;
  }
  double commands() override {
    double all = 0;
    for (std::size_t i = 0; i < masters; ++i) all += commands_of(servers_.server(i));
    return all;
  }
  double memory() override {
    double all = 0;
    for (std::size_t i = 0; i < masters; ++i) all += memory_of(servers_.server(i));
    return all;
  }

 private:
  static constexpr std::size_t masters = 3;
  mutable cluster_servers servers_{{.masters = masters}};
};

// Five masters, of which some are down.
template <std::size_t Down>
class redlock final : public deployment {
 public:
  redlock() {
    for (std::size_t i = 0; i < Down; ++i) masters_[i].kill_hard();
  }
  std::string url() const override { return masters_.url(); }
  std::vector<pid_t> servers() const override {
    std::vector<pid_t> all;
    for (std::size_t i = Down; i < masters_.size(); ++i) all.push_back(masters_[i].pid());
    return all;
  }
  double commands() override {
    double all = 0;
    for (std::size_t i = Down; i < masters_.size(); ++i) all += commands_of(masters_[i]);
    return all;
  }
  double memory() override {
    double all = 0;
    for (std::size_t i = Down; i < masters_.size(); ++i) all += memory_of(masters_[i]);
    return all;
  }

 private:
  mutable redlock_servers masters_{5};
};

template <std::size_t Count>
class shards final : public deployment {
 public:
  std::string url() const override { return shards_url(servers_); }
  std::vector<pid_t> servers() const override {
    std::vector<pid_t> all;
    for (const redis_server& s : servers_) all.push_back(s.pid());
    return all;
  }
  double commands() override {
    double all = 0;
    for (redis_server& s : servers_) all += commands_of(s);
    return all;
  }
  double memory() override {
    double all = 0;
    for (redis_server& s : servers_) all += memory_of(s);
    return all;
  }

 private:
  redis_server servers_[Count];
};

template <class Deployment>
std::unique_ptr<deployment> started() {
  return std::make_unique<Deployment>();
}

const char* missing() { return redis_server::installed() ? nullptr : redis_server::not_installed; }

constexpr topology of_redis[] = {
    {"redis", "one Redis server", "redis", started<single>, missing},
    {"sentinel", "Redis, a master, two replicas, three sentinels", "redis", started<sentinel>,
     missing},
    {"cluster", "Redis Cluster, three masters with a replica each", "redis", started<cluster>,
     missing},
    {"redlock", "five Redis masters that append each write to a file", "redlock",
     started<redlock<0>>, missing},
    {"redlock-1-down", "the same, one of them down", "redlock", started<redlock<1>>, missing},
    {"redlock-2-down", "the same, two of them down", "redlock", started<redlock<2>>, missing},
    {"shards-1", "one Redis server as a shard", "shards", started<shards<1>>, missing},
    {"shards-2", "two Redis servers that share the locks", "shards", started<shards<2>>, missing},
    {"shards-3", "three Redis servers that share the locks", "shards", started<shards<3>>, missing},
};

}  // namespace

std::span<const topology> redis_topologies() noexcept { return of_redis; }

}  // namespace survey
