// ZooKeeper: one server, and an ensemble of three that vote and one that observes.
#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "testkit/servers/small_disk.hpp"
#include "testkit/servers/zookeeper_ensemble.hpp"
#include "torture/deployment.hpp"
#include "torture/disk_faults.hpp"
#include "torture/outages.hpp"
#include "torture/zookeeper_faults.hpp"

namespace holdfast::torture {

using namespace std::chrono_literals;
using testkit::zookeeper_ensemble;
using testkit::zookeeper_server;

namespace {

constexpr std::chrono::milliseconds zookeeper_recovery = 60s;
// The log and the snapshots of more than an hour.
constexpr std::size_t kilobytes_for_logs = std::size_t{128} * 1024;
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
    std::vector<fault> all{{"server.kill",
                            [this](dice& d) { kill_and_start(server_, usual_outage(d)); }},
                           {"server.stop", [this](dice& d) { stop_and_go_on(server_, d); }},
                           {"server.clock", [this](dice& d) { step_clock(server_, d); }},
                           {"access.deny", [this](dice& d) { deny_access(server_, d); }}};
    if (disk_.is_mounted())
      all.push_back({"disk.full", [this](dice& d) { fill_disk(server_, disk_, d); }});
    return all;
  }
  std::vector<std::string> not_played() const override {
    if (disk_.is_mounted()) return {};
    return {disk_not_filled};
  }
  void wait_until_healthy() override { wait_until_it_serves(server_); }
  std::vector<std::string> left_behind() override { return left_in(server_, nodes_before_); }

 private:
  testkit::small_disk disk_{kilobytes_for_logs};
  zookeeper_server server_{{.clock_shim = true, .data_folder = disk_.path()}};
  const std::size_t nodes_before_ = nodes_of(server_);
};

class three_zookeepers final : public deployment {
 public:
  three_zookeepers() {
    for (int id = 1; id <= all_.count(); ++id) links_.emplace_back(all_.at(id).port());
  }
  std::string url() const override { return all_.url() + session_terms; }
  std::string url_through_links() const override {
    return "zookeeper://" + addresses_of(links_) + session_terms;
  }

  std::vector<fault> server_faults() override {
    std::vector<fault> all{
        {"leader.kill",
         [this](dice& d) { kill_and_start(all_.at(all_.leader()), usual_outage(d)); }},
        {"leader.stop", [this](dice& d) { stop_and_go_on(all_.at(all_.leader()), d); }},
        {"leader.isolate", [this](dice& d) { isolate_leader(all_, d); }},
        {"follower.kill",
         [this](dice& d) { kill_and_start(all_.at(all_.follower()), usual_outage(d)); }},
        {"follower.stop", [this](dice& d) { stop_and_go_on(all_.at(all_.follower()), d); }},
        {"observer.kill", [this](dice& d) { kill_and_start(observer(), usual_outage(d)); }},
        {"observer.stop", [this](dice& d) { stop_and_go_on(observer(), d); }},
        {"observer.link-freeze",
         [this](dice& d) { freeze_link(all_, zookeeper_ensemble::observer, d); }},
        {"servers.two-killed", [this](dice& d) { kill_the_quorum(all_, d); }},
        {"server.clock", [this](dice& d) { step_clock(all_.at(any(d)), d); }},
        {"access.deny", [this](dice& d) { deny_access(all_.at(any(d)), d); }},
        {"ensemble.link-freeze", [this](dice& d) { freeze_link(all_, all_.follower(), d); }},
        {"ensemble.link-cut", [this](dice& d) { cut_link(all_, all_.follower(), d); }},
    };
    if (disks_.front().is_mounted())
      all.push_back({"disk.full", [this](dice& d) {
                       const int id = any(d);
                       fill_disk(all_.at(id), disks_.at(static_cast<std::size_t>(id - 1)), d);
                     }});
    return all;
  }
  std::vector<std::string> not_played() const override {
    if (disks_.front().is_mounted()) return {};
    return {disk_not_filled};
  }
  void wait_until_healthy() override {
    for (int id = 1; id <= all_.count(); ++id) wait_until_it_serves(all_.at(id));
  }
  std::vector<std::string> left_behind() override {
    std::vector<std::string> lines;
    for (int id = 1; id <= all_.count(); ++id)
      for (auto& line : left_in(all_.at(id), nodes_before_)) lines.push_back(std::move(line));
    return lines;
  }

 private:
  zookeeper_server& observer() { return all_.at(zookeeper_ensemble::observer); }
  // Of those that vote.
  static int any(dice& d) { return 1 + static_cast<int>(d.below(zookeeper_ensemble::servers)); }
  std::vector<std::string> folders() const {
    std::vector<std::string> all;
    for (const testkit::small_disk& each : disks_) all.push_back(each.path());
    return all;
  }

  std::array<testkit::small_disk, zookeeper_ensemble::servers>
      disks_{testkit::small_disk{kilobytes_for_logs}, testkit::small_disk{kilobytes_for_logs},
             testkit::small_disk{kilobytes_for_logs}};
  zookeeper_ensemble all_{{.clock_shim = true}, {}, true, folders()};
  const std::size_t nodes_before_ = nodes_of(all_.at(1));
};

}  // namespace

std::unique_ptr<deployment> open_zookeeper() { return std::make_unique<one_zookeeper>(); }
std::unique_ptr<deployment> open_ensemble() { return std::make_unique<three_zookeepers>(); }

}  // namespace holdfast::torture
