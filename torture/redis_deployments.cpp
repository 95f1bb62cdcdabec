// Redis servers that nothing replaces: one, several shards, the masters of a Redlock.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <deque>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "testkit/servers/redis_shards.hpp"
#include "testkit/servers/redlock_servers.hpp"
#include "testkit/servers/small_disk.hpp"
#include "torture/deployment.hpp"
#include "torture/disk_faults.hpp"
#include "torture/redis_faults.hpp"
#include "torture/redis_refusals.hpp"

namespace holdfast::torture {

using namespace std::chrono_literals;
using testkit::redis_options;
using testkit::redis_server;

namespace {

const std::string redis_terms = "&retry-base=10ms";

// Each write is on the disk before its reply: a killed server loses none.
const redis_options durable_server{.durable = true, .clock_shim = true};

class independent_servers : public deployment {
 public:
  std::vector<fault> server_faults() override {
    const auto any = any_server();
    std::vector<fault> all = redis_commands(any, 2s);
    std::ranges::move(redis_refusals(any, 2s), std::back_inserter(all));
    all.push_back(redis_kill(any));
    all.push_back(redis_stop(any));
    all.push_back(redis_client_limit(any, 2s));
    all.push_back(redis_long_script(any, 1s));
    all.push_back(redis_idle_limit(any));
    all.push_back(redis_loading(any, 2s));
    return all;
  }

  std::vector<std::string> left_behind() override {
    std::vector<std::string> lines;
    for (redis_server* each : servers())
      for (auto& line : left_in_redis(*each)) lines.push_back(std::move(line));
    return lines;
  }

  void plant_left_key() override { servers().front()->command({"SET", "left", "x"}); }

 protected:
  virtual std::vector<redis_server*> servers() = 0;
  void open_links() {
    for (redis_server* each : servers()) links_.emplace_back(each->port());
  }
  server_choice any_server() {
    return [this](dice& d) -> redis_server& {
      const auto all = servers();
      return *all[d.below(all.size())];
    };
  }
};

// Leases that are lost are believed in for a ttl. Tokens continue above the clock, which may have
// been ahead before the loss.
constexpr std::chrono::milliseconds loss_excuse = lease_ttl + redis_clock_step;

// Its file is rewritten long before it fills the disk.
class one_redis final : public independent_servers {
 public:
  one_redis() { open_links(); }
  std::string url() const override { return server_.url() + common_options() + redis_terms; }
  std::string url_through_links() const override {
    return links_.front().url() + common_options() + redis_terms;
  }

  std::vector<fault> server_faults() override {
    std::vector<fault> all = independent_servers::server_faults();
    std::ranges::move(redis_demotions(any_server(), 2s), std::back_inserter(all));
    std::ranges::move(redis_clocks(any_server(), lease_ttl), std::back_inserter(all));
    all.push_back({"server.emptied", [this](dice&) { server_.restart(false); }, loss_excuse});
    all.push_back({"keys.flush", [this](dice&) { server_.command({"FLUSHALL"}); }, loss_excuse});
    all.push_back(redis_eviction(any_server(), 1s, loss_excuse));
    if (disk_.is_mounted()) all.push_back({"disk.full", [this](dice& d) { fill_disk(d); }});
    return all;
  }
  std::vector<std::string> not_played() const override {
    if (disk_.is_mounted()) return {};
    return {disk_not_filled};
  }

 private:
  static constexpr std::size_t kilobytes = std::size_t{64} * 1024;

  std::vector<redis_server*> servers() override { return {&server_}; }
  // With appendfsync always a server ends when it cannot write, before it replies.
  void fill_disk(dice& d) {
    fill_for_a_while(disk_, d);
    if (replies()) return;
    server_.kill_hard();
    server_.start();
  }
  bool replies() {
    try {
      return server_.command({"PING"}).text == "PONG";
    } catch (const testkit::redis_silent&) {
      return false;
    }
  }

  testkit::small_disk disk_{kilobytes};
  redis_server server_{{.durable = true,
                        .clock_shim = true,
                        .config = {"auto-aof-rewrite-min-size 8mb"},
                        .data_folder = disk_.path()}};
};

// Every connection of a client is encrypted, and authenticates the server.
class one_redis_with_tls final : public independent_servers {
 public:
  one_redis_with_tls() { open_links(); }
  std::string url() const override { return server_.url() + terms(); }
  std::string url_through_links() const override {
    return "rediss://" + addresses_of(links_) + terms();
  }

  std::vector<fault> server_faults() override {
    std::vector<fault> all = independent_servers::server_faults();
    all.push_back({"certificate.expire", [this](dice& d) { present("expired", d); }});
    all.push_back({"certificate.of-another-host", [this](dice& d) { present("stranger", d); }});
    return all;
  }

 private:
  std::string terms() const {
    return common_options() + redis_terms + "&tls-ca=" + server_.tls_files().certificate("ca");
  }
  std::vector<redis_server*> servers() override { return {&server_}; }
  // For a while, to new connections. Waiters without a connection end then.
  void present(const std::string& certificate, dice& d) {
    const auto time = d.between(50ms, 2s);
    use(certificate);
    for (const char* type : {"normal", "pubsub"})
      send_until_answered(server_, {"CLIENT", "KILL", "TYPE", type});
    std::this_thread::sleep_for(time);
    use("server");
  }
  // Before Redis 7.0 this changes nothing: a certificate and its key cannot be set together.
  void use(const std::string& certificate) {
    const auto& files = server_.tls_files();
    send_until_answered(server_, {"CONFIG", "SET", "tls-cert-file", files.certificate(certificate),
                                  "tls-key-file", files.key(certificate)});
  }

  redis_server server_{{.durable = true, .tls = "server"}};
};

class shards final : public independent_servers {
 public:
  shards() {
    for (int i = 0; i < 3; ++i) servers_.emplace_back(durable_server);
    open_links();
  }
  std::string url() const override { return testkit::shards_url(servers_) + terms(); }
  std::string url_through_links() const override {
    return "redis+shards://" + addresses_of(links_) + terms();
  }

  std::vector<fault> server_faults() override {
    std::vector<fault> all = independent_servers::server_faults();
    std::ranges::move(redis_demotions(any_server(), 2s), std::back_inserter(all));
    std::ranges::move(redis_clocks(any_server(), lease_ttl), std::back_inserter(all));
    return all;
  }

 private:
  static std::string terms() { return common_options() + redis_terms + "&names=a,b,c"; }
  std::vector<redis_server*> servers() override {
    std::vector<redis_server*> all;
    for (redis_server& each : servers_) all.push_back(&each);
    return all;
  }
  std::deque<redis_server> servers_;
};

// Up to three of five fail at a time. None becomes a replica: it would not vote from then on.
class redlock final : public independent_servers {
 public:
  redlock() { open_links(); }
  std::string url() const override { return servers_.url() + common_options() + redis_terms; }
  std::string url_through_links() const override {
    return "redlock://" + addresses_of(links_) + common_options() + redis_terms;
  }

  std::vector<fault> server_faults() override {
    std::vector<fault> all = independent_servers::server_faults();
    all.push_back({"servers.two-killed", [this](dice& d) { kill_some(2, d); }});
    all.push_back({"servers.three-killed", [this](dice& d) { kill_some(3, d); }});
    all.push_back({"server.emptied", [this](dice&) { servers_[unsafe].restart(false); }});
    const auto the_unsafe = [this](dice&) -> redis_server& { return servers_[unsafe]; };
    std::ranges::move(redis_clocks(the_unsafe, lease_ttl), std::back_inserter(all));
    return all;
  }

 private:
  static constexpr std::size_t count = 5;
  // The only one that loses locks: a majority that does may make two holders.
  static constexpr std::size_t unsafe = 0;

  void kill_some(std::size_t killed, dice& d) {
    std::vector<redis_server*> all = servers();
    for (std::size_t i = 0; i < killed; ++i) {
      std::swap(all[i], all[i + d.below(count - i)]);
      all[i]->kill_hard();
    }
    std::this_thread::sleep_for(d.between(50ms, 3s));
    for (std::size_t i = 0; i < killed; ++i) all[i]->start();
  }
  std::vector<redis_server*> servers() override {
    std::vector<redis_server*> all;
    for (std::size_t i = 0; i < count; ++i) all.push_back(&servers_[i]);
    return all;
  }
  testkit::redlock_servers servers_{count, testkit::redlock_servers::history::long_running,
                                    durable_server};
};

}  // namespace

std::unique_ptr<deployment> open_redis() { return std::make_unique<one_redis>(); }
std::unique_ptr<deployment> open_redis_with_tls() { return std::make_unique<one_redis_with_tls>(); }
std::unique_ptr<deployment> open_shards() { return std::make_unique<shards>(); }
std::unique_ptr<deployment> open_redlock() { return std::make_unique<redlock>(); }

}  // namespace holdfast::torture
