#ifdef HOLDFAST_WITH_REDIS
#include <deque>

#include "subject.hpp"
#include "testkit/servers/cluster_servers.hpp"
#include "testkit/servers/redis_server.hpp"
#include "testkit/servers/sentinel_servers.hpp"
#include "testkit/servers/tcp_proxy.hpp"

namespace contract {
namespace {

using holdfast::testkit::cluster_servers;
using holdfast::testkit::redis_server;
using holdfast::testkit::sentinel_servers;

redis_server& server_of_all_cases() {
  static redis_server server;
  return server;
}

// Each case has its own network, and nothing of an earlier one is at the server.
class redis_subject : public subject {
 public:
  explicit redis_subject(std::string_view options, redis_server& s = server_of_all_cases())
      : options_(options), server_(s) {
    server_.go_on();  // a case that failed may have left it stopped
    for (const char* type : {"normal", "pubsub"}) server_.command({"CLIENT", "KILL", "TYPE", type});
    server_.command({"FLUSHALL"});
    server_.command({"SCRIPT", "FLUSH"});
  }

  std::string url() const override { return with_options(proxy_.url(), options_); }
  std::string short_lived_url() const override {
    return with_options(url(), "ttl=" + std::to_string(short_ttl.count()) + "ms&op-timeout=3s");
  }
  void lose_leases_of(const holdfast::client&) override {
    if (options_ == "layout=redisson-permits") {  // whose ends stand beside what ends
      server_.command({"FLUSHALL"});
      return;
    }
    const bool of_redisson = options_.starts_with("layout=redisson");
    server_.command({"EVAL", of_redisson ? drop_what_ends : drop_owners, "0"});
  }
  void begin_outage() override { server_.stop(); }
  void end_outage() override { server_.go_on(); }
  void lose_next_reply() override { proxy_.cut_after(holdfast::testkit::direction::to_client, 0); }

 protected:
  // As if every lease had run out; who waits is left where it is.
  static constexpr const char* drop_owners =
      "for _, k in ipairs(redis.call('KEYS', '*')) do "
      "if redis.call('TYPE', k).ok == 'string' and k ~= 'holdfast:n' and "
      "not string.find(k, '^holdfast:{%w+}:n$') then redis.call('DEL', k) end "
      "end";
  // Of Redisson's locks only what lasts as long as a lease has an end.
  static constexpr const char* drop_what_ends =
      "for _, k in ipairs(redis.call('KEYS', '*')) do "
      "if redis.call('PTTL', k) >= 0 then redis.call('DEL', k) end "
      "end";

  const std::string options_;
  redis_server& server_;
  holdfast::testkit::tcp_proxy proxy_{server_.port()};
};

// The sentinels find no case's outage long enough to replace the master.
sentinel_servers& sentinels_of_all_cases() {
  static sentinel_servers servers({.down_after = std::chrono::minutes(10)});
  return servers;
}

class sentinel_subject final : public redis_subject {
 public:
  explicit sentinel_subject(std::string_view options)
      : redis_subject(options, sentinels_of_all_cases().master()) {}

  std::string url() const override {
    const std::string told = "127.0.0.1:" + std::to_string(server_.port());
    const std::string map = "map=" + told + "=127.0.0.1:" + std::to_string(proxy_.port());
    return with_options(with_options(sentinels_of_all_cases().url(), map), options_);
  }
};

// One of several servers, with the part of the network that leads to it.
struct one_of_several final : redis_subject {
  using redis_subject::redis_subject;
  std::string told() const { return "127.0.0.1:" + std::to_string(server_.port()); }
  std::string reached() const { return "127.0.0.1:" + std::to_string(proxy_.port()); }
};

// Several servers, of which each lock has one.
class several_servers : public subject {
 public:
  std::string short_lived_url() const override {
    return with_options(url(), "ttl=" + std::to_string(short_ttl.count()) + "ms&op-timeout=3s");
  }
  void lose_leases_of(const holdfast::client& c) override {
    for (one_of_several& s : servers_) s.lose_leases_of(c);
  }
  void begin_outage() override {
    for (one_of_several& s : servers_) s.begin_outage();
  }
  void end_outage() override {
    for (one_of_several& s : servers_) s.end_outage();
  }
  void lose_next_reply() override {
    for (one_of_several& s : servers_) s.lose_next_reply();
  }

 protected:
  explicit several_servers(std::string_view options) : options_(options) {}
  void add(redis_server& s) { servers_.emplace_back(options_, s); }
  const std::string& options() const { return options_; }
  // With commas between them.
  std::string texts_of(std::string (*text)(const one_of_several&)) const {
    std::string out;
    for (const one_of_several& s : servers_)
      out.append(&s == &servers_.front() ? "" : ",").append(text(s));
    return out;
  }
  std::string reached() const {
    return texts_of([](const one_of_several& s) { return s.reached(); });
  }

 private:
  const std::string options_;
  std::deque<one_of_several> servers_;
};

constexpr std::size_t shard_count = 3;

redis_server& shard_of_all_cases(std::size_t i) {
  static redis_server all[shard_count];
  return all[i];
}

class shards_subject final : public several_servers {
 public:
  explicit shards_subject(std::string_view options) : several_servers(options) {
    for (std::size_t i = 0; i < shard_count; ++i) add(shard_of_all_cases(i));
  }

  std::string url() const override {
    return with_options(with_options("redis+shards://" + reached(), "names=a,b,c"), options());
  }
};

redis_server& changing_shard_of_all_cases(std::size_t i) {
  static redis_server all[shard_count];
  return all[i];
}

// The list of shards changes, and each lock moves to the last one.
class changing_shards_subject final : public several_servers {
 public:
  explicit changing_shards_subject(std::string_view options) : several_servers(options) {
    for (std::size_t i = 0; i < shard_count; ++i) add(changing_shard_of_all_cases(i));
  }

  std::string url() const override {
    const std::string lists = "names=a,b,c&weights=0,0,1&was=1,1,0";
    return with_options(with_options("redis+shards://" + reached(), lists), options());
  }
};

// The nodes find no case's outage long enough to call a master failed.
cluster_servers& cluster_of_all_cases() {
  static cluster_servers servers({.replicas = 0, .node_timeout = std::chrono::minutes(10)});
  return servers;
}

class cluster_subject final : public several_servers {
 public:
  explicit cluster_subject(std::string_view options) : several_servers(options) {
    cluster_servers& c = cluster_of_all_cases();
    for (std::size_t i = 0; i < c.server_count(); ++i) add(c.server(i));
  }

  std::string url() const override {
    const std::string map =
        texts_of([](const one_of_several& s) { return s.told() + '=' + s.reached(); });
    return with_options(with_options("redis+cluster://" + reached(), "map=" + map), options());
  }
};

}  // namespace

std::unique_ptr<subject> make_cluster_subject(std::string_view options) {
  return std::make_unique<cluster_subject>(options);
}

std::unique_ptr<subject> make_shards_subject(std::string_view options) {
  return std::make_unique<shards_subject>(options);
}

std::unique_ptr<subject> make_changing_shards_subject(std::string_view options) {
  return std::make_unique<changing_shards_subject>(options);
}

std::unique_ptr<subject> make_redis_subject(std::string_view options) {
  return std::make_unique<redis_subject>(options);
}

std::unique_ptr<subject> make_sentinel_subject(std::string_view options) {
  return std::make_unique<sentinel_subject>(options);
}

}  // namespace contract
#endif
