// ZooKeeper: one server, and an ensemble of three.
#include <array>
#include <chrono>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "testkit/servers/zookeeper_ensemble.hpp"
#include "torture/deployment.hpp"

namespace holdfast::torture {

using namespace std::chrono_literals;
using testkit::zookeeper_ensemble;
using testkit::zookeeper_server;

namespace {

constexpr std::chrono::milliseconds zookeeper_outage = 3s, zookeeper_recovery = 60s,
                                    server_clock_step = 1h;
const std::string session_terms = common_options() + "&session-timeout=2s";

// The nodes above those of the holders and waiters.
constexpr std::size_t nodes_of_a_lock = 3;

// The number after the text, of an administrator's answer; "": the text is not there.
std::string number_after(const std::string& answer, const std::string& text) {
  const auto at = answer.find(text);
  if (at == std::string::npos) return {};
  const auto from = at + text.size();
  return answer.substr(from, answer.find_first_not_of("0123456789", from) - from);
}

std::size_t nodes_of(const zookeeper_server& server) {
  const std::string count = number_after(server.ask("srvr"), "Node count: ");
  return count.empty() ? 0 : std::stoul(count);
}

// `nodes_before`: those that the server had before the first client.
std::vector<std::string> left_in(const zookeeper_server& server, std::size_t nodes_before) {
  std::vector<std::string> lines;
  if (const auto nodes = nodes_of(server); nodes > nodes_before + lock_count * nodes_of_a_lock)
    lines.push_back(std::to_string(nodes) + " nodes, and " + std::to_string(nodes_before) +
                    " before the campaign");
  const std::string dump = server.ask("dump");
  if (const auto count = number_after(dump, "Sessions with Ephemerals ("); count != "0")
    lines.push_back(count + " sessions with ephemeral nodes");
  std::istringstream sessions(server.ask("cons"));
  int open = -1;  // that of this request
  for (std::string line; std::getline(sessions, line);) open += line.find('/') != line.npos ? 1 : 0;
  if (open > 0) lines.push_back(std::to_string(open) + " connections");
  return lines;
}

void kill_and_start(zookeeper_server& server, dice& d) {
  server.kill_hard();
  std::this_thread::sleep_for(d.between(20ms, 1500ms));
  server.start();
}

void stop_and_go_on(zookeeper_server& server, dice& d) {
  server.stop();
  std::this_thread::sleep_for(d.between(50ms, zookeeper_outage));
  server.go_on();
}

// No wall clock of a server matters.
void step_clock(zookeeper_server& server, dice& d) {
  server.set_clock(d.one_in(2) ? server_clock_step : -server_clock_step);
  std::this_thread::sleep_for(d.between(100ms, 2s));
  server.set_clock(0ms);
}

void wait_until_it_serves(const zookeeper_server& server) {
  const auto until = std::chrono::steady_clock::now() + zookeeper_recovery;
  while (server.mode().empty()) {
    if (std::chrono::steady_clock::now() > until)
      throw std::runtime_error("a zookeeper server does not recover: " + server.log());
    std::this_thread::sleep_for(20ms);
  }
}

class one_zookeeper final : public deployment {
 public:
  one_zookeeper() { links_.emplace_back(server_.port()); }
  std::string url() const override { return server_.url() + session_terms; }
  std::string url_through_links() const override {
    return "zookeeper://" + addresses_of(links_) + session_terms;
  }
  std::vector<fault> server_faults() override {
    return {{"server.kill", [this](dice& d) { kill_and_start(server_, d); }},
            {"server.stop", [this](dice& d) { stop_and_go_on(server_, d); }},
            {"server.clock", [this](dice& d) { step_clock(server_, d); }}};
  }
  void wait_until_healthy() override { wait_until_it_serves(server_); }
  std::vector<std::string> left_behind() override { return left_in(server_, nodes_before_); }

 private:
  zookeeper_server server_{{.clock_shim = true}};
  const std::size_t nodes_before_ = nodes_of(server_);
};

class three_zookeepers final : public deployment {
 public:
  three_zookeepers() {
    for (int id = 1; id <= zookeeper_ensemble::servers; ++id)
      links_.emplace_back(all_.at(id).port());
  }
  std::string url() const override { return all_.url() + session_terms; }
  std::string url_through_links() const override {
    return "zookeeper://" + addresses_of(links_) + session_terms;
  }

  std::vector<fault> server_faults() override {
    return {
        {"leader.kill", [this](dice& d) { kill_and_start(all_.at(all_.leader()), d); }},
        {"leader.stop", [this](dice& d) { stop_and_go_on(all_.at(all_.leader()), d); }},
        {"follower.kill", [this](dice& d) { kill_and_start(all_.at(all_.follower()), d); }},
        {"follower.stop", [this](dice& d) { stop_and_go_on(all_.at(all_.follower()), d); }},
        {"servers.two-killed", [this](dice& d) { kill_the_quorum(d); }},
        {"server.clock",
         [this](dice& d) { step_clock(all_.at(1 + static_cast<int>(d.below(3))), d); }},
        {"ensemble.link-freeze",
         [this](dice& d) {
           testkit::tcp_proxy& link = all_.link(all_.follower(), all_.leader());
           link.set_both({.hold = true});
           std::this_thread::sleep_for(d.between(100ms, zookeeper_outage));
           link.set_both({});
         }},
        {"ensemble.link-cut",
         [this](dice& d) {
           testkit::tcp_proxy& link = all_.link(all_.follower(), all_.leader());
           link.refuse(true);
           link.reset_all();
           std::this_thread::sleep_for(d.between(100ms, zookeeper_outage));
           link.refuse(false);
         }},
    };
  }
  void wait_until_healthy() override {
    for (int id = 1; id <= zookeeper_ensemble::servers; ++id) wait_until_it_serves(all_.at(id));
  }
  std::vector<std::string> left_behind() override {
    std::vector<std::string> lines;
    for (int id = 1; id <= zookeeper_ensemble::servers; ++id)
      for (auto& line : left_in(all_.at(id), nodes_before_)) lines.push_back(std::move(line));
    return lines;
  }

 private:
  void kill_the_quorum(dice& d) {
    zookeeper_server &leader = all_.at(all_.leader()), &follower = all_.at(all_.follower());
    leader.kill_hard();
    follower.kill_hard();
    std::this_thread::sleep_for(d.between(50ms, zookeeper_outage));
    leader.start();
    follower.start();
  }

  zookeeper_ensemble all_{{.clock_shim = true}};
  const std::size_t nodes_before_ = nodes_of(all_.at(1));
};

}  // namespace

std::unique_ptr<deployment> open_zookeeper() { return std::make_unique<one_zookeeper>(); }
std::unique_ptr<deployment> open_ensemble() { return std::make_unique<three_zookeepers>(); }

}  // namespace holdfast::torture
