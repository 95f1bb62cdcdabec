// Redis servers that nothing replaces: one, several shards, the masters of a Redlock.
#include <chrono>
#include <deque>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "testkit/servers/redis_shards.hpp"
#include "testkit/servers/redlock_servers.hpp"
#include "torture/deployment.hpp"
#include "torture/redis_faults.hpp"

namespace holdfast::torture {

using namespace std::chrono_literals;
using testkit::redis_options;
using testkit::redis_server;

namespace {

const std::string redis_terms = "&retry-base=10ms";

// Each write is on the disk before its reply: a killed server loses none.
const redis_options durable_server{.durable = true};

class independent_servers : public deployment {
 public:
  std::vector<fault> server_faults() override {
    const auto any = any_server();
    std::vector<fault> all = redis_commands(any, 2s);
    all.push_back(redis_kill(any));
    all.push_back(redis_stop(any));
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

class one_redis final : public independent_servers {
 public:
  one_redis() { open_links(); }
  std::string url() const override { return server_.url() + common_options() + redis_terms; }
  std::string url_through_links() const override {
    return links_.front().url() + common_options() + redis_terms;
  }

 private:
  std::vector<redis_server*> servers() override { return {&server_}; }
  redis_server server_{durable_server};
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

 private:
  static std::string terms() { return common_options() + redis_terms + "&names=a,b,c"; }
  std::vector<redis_server*> servers() override {
    std::vector<redis_server*> all;
    for (redis_server& each : servers_) all.push_back(&each);
    return all;
  }
  std::deque<redis_server> servers_;
};

// Up to two of five fail at a time.
class redlock final : public independent_servers {
 public:
  redlock() { open_links(); }
  std::string url() const override { return servers_.url() + common_options() + redis_terms; }
  std::string url_through_links() const override {
    return "redlock://" + addresses_of(links_) + common_options() + redis_terms;
  }

  std::vector<fault> server_faults() override {
    std::vector<fault> all = independent_servers::server_faults();
    all.push_back({"servers.two-killed", [this](dice& d) {
                     const auto first = d.below(count);
                     redis_server& one = servers_[first];
                     redis_server& other = servers_[(first + 1 + d.below(count - 1)) % count];
                     one.kill_hard();
                     other.kill_hard();
                     std::this_thread::sleep_for(d.between(50ms, 3s));
                     one.start();
                     other.start();
                   }});
    return all;
  }

 private:
  static constexpr std::size_t count = 5;
  std::vector<redis_server*> servers() override {
    std::vector<redis_server*> all;
    for (std::size_t i = 0; i < count; ++i) all.push_back(&servers_[i]);
    return all;
  }
  testkit::redlock_servers servers_{count};
};

}  // namespace

std::unique_ptr<deployment> open_redis() { return std::make_unique<one_redis>(); }
std::unique_ptr<deployment> open_shards() { return std::make_unique<shards>(); }
std::unique_ptr<deployment> open_redlock() { return std::make_unique<redlock>(); }

}  // namespace holdfast::torture
