#ifdef HOLDFAST_WITH_REDIS
#include <deque>

#include "subject.hpp"
#include "testkit/servers/redlock_servers.hpp"
#include "testkit/servers/tcp_proxy.hpp"

namespace contract {
namespace {

using holdfast::testkit::redlock_servers;

constexpr std::size_t server_count = 3, majority = 2;
constexpr std::chrono::milliseconds max_ttl = std::chrono::hours(2);  // above that of every case

// Each command need not reach the disk: no case restarts them.
redlock_servers& servers_of_all_cases() {
  static redlock_servers servers(server_count, redlock_servers::history::long_running,
                                 {.config = {"appendonly yes", "appendfsync no"}});
  return servers;
}

// Each case has its own network, and nothing of an earlier one is at the servers.
class redlock_subject final : public subject {
 public:
  explicit redlock_subject(std::string_view options) : options_(options) {
    for (std::size_t i = 0; i < server_count; ++i) {
      servers_[i].go_on();  // a case that failed may have left it stopped
      for (const char* type : {"normal", "pubsub"})
        servers_[i].command({"CLIENT", "KILL", "TYPE", type});
      servers_[i].command({"FLUSHALL"});
      servers_[i].command({"SCRIPT", "FLUSH"});
      redlock_servers::give_record(servers_[i], 1000, max_ttl.count());
      proxies_.emplace_back(servers_[i].port());
    }
  }

  std::string url() const override {
    std::string out = "redlock://";
    for (const auto& p : proxies_)
      out.append(&p == &proxies_.front() ? "" : ",")
          .append("127.0.0.1:" + std::to_string(p.port()));
    return with_options(with_options(out, "max-ttl=" + std::to_string(max_ttl.count()) + "ms"),
                        options_);
  }
  std::string short_lived_url() const override {
    return with_options(url(), "ttl=" + std::to_string(short_ttl.count()) +
                                   "ms&op-timeout=3s&node-timeout=100ms");
  }
  void lose_leases_of(const holdfast::client&) override {
    for (std::size_t i = 0; i < server_count; ++i) servers_[i].command({"EVAL", drop_locks, "0"});
  }
  void begin_outage() override {
    for (std::size_t i = 0; i < majority; ++i) servers_[i].stop();
  }
  void end_outage() override {
    for (std::size_t i = 0; i < majority; ++i) servers_[i].go_on();
  }
  void lose_next_reply() override {
    for (auto& p : proxies_) p.cut_after(holdfast::testkit::direction::to_client, 0);
  }

 private:
  // As if every lease had run out.
  static constexpr const char* drop_locks =
      "for _, k in ipairs(redis.call('KEYS', '*')) do "
      "if redis.call('TYPE', k).ok == 'string' then redis.call('DEL', k) end "
      "end";

  const std::string options_;
  redlock_servers& servers_ = servers_of_all_cases();
  std::deque<holdfast::testkit::tcp_proxy> proxies_;
};

}  // namespace

std::unique_ptr<subject> make_redlock_subject(std::string_view options) {
  return std::make_unique<redlock_subject>(options);
}

}  // namespace contract
#endif
