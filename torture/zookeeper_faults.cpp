#include "torture/zookeeper_faults.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "backend/zookeeper/layouts/lock_path.hpp"
#include "testkit/servers/zookeeper_link.hpp"
#include "torture/deployment.hpp"

namespace holdfast::torture {

using namespace std::chrono_literals;
using testkit::tcp_proxy;
using testkit::zookeeper_ensemble;
using testkit::zookeeper_server;

namespace {

constexpr std::chrono::milliseconds zookeeper_outage = 3s, server_clock_step = 1h,
                                    longest_denial = 2s, rights_bound = 20s;
constexpr std::int32_t all_rights = 31, all_but_create = 27;

// The server creates a log before it writes the log's header, and does not start over a log that
// has none (ZOOKEEPER-2332). Such a log has no transaction.
void remove_empty_logs(const std::string& folder) {
  std::vector<std::filesystem::path> empty;
  for (const auto& each : std::filesystem::directory_iterator(folder))
    if (each.path().filename().string().starts_with("log.") && each.file_size() == 0)
      empty.push_back(each.path());
  for (const auto& each : empty) std::filesystem::remove(each);
}

void give_rights_back(const zookeeper_server& server, const std::string& path) {
  const auto until = std::chrono::steady_clock::now() + rights_bound;
  for (;;) {
    try {
      testkit::zookeeper_link(server.port()).set_rights(path, all_rights);
      return;
    } catch (const std::runtime_error&) {
      if (std::chrono::steady_clock::now() >= until) throw;
    }
    std::this_thread::sleep_for(50ms);
  }
}

}  // namespace

void step_clock(zookeeper_server& server, dice& d) {
  server.set_clock(d.one_in(2) ? server_clock_step : -server_clock_step);
  std::this_thread::sleep_for(d.between(100ms, 2s));
  server.set_clock(0ms);
}

// A server alone ends when it cannot write its log. One of an ensemble leaves the others, and would
// later continue the log behind a record of which a part is missing.
void fill_disk(zookeeper_server& server, const testkit::small_disk& disk, dice& d) {
  disk.fill();
  std::this_thread::sleep_for(d.between(50ms, 2s));
  server.kill_hard();
  disk.make_room();
  remove_empty_logs(disk.path() + "/data/version-2");
  server.start();
  if (!server.running())
    throw std::runtime_error("a zookeeper server does not start after its disk was full: " +
                             server.log());
}

void deny_access(const zookeeper_server& server, dice& d) {
  const std::string name =
      d.one_in(2) ? names.mutex(d.below(mutex_count)) : names.shared(d.below(shared_count));
  const std::string path = zookeeper::lock_path({}, name);
  try {
    if (!testkit::zookeeper_link(server.port()).set_rights(path, all_but_create)) return;
    std::this_thread::sleep_for(d.between(50ms, longest_denial));
  } catch (const std::runtime_error&) {
    // The reply was lost. The rights may be denied nevertheless.
  }
  give_rights_back(server, path);
}

void freeze_link(zookeeper_ensemble& all, int server, dice& d) {
  tcp_proxy& link = all.link(server, all.leader());
  link.set_both({.hold = true});
  std::this_thread::sleep_for(d.between(100ms, zookeeper_outage));
  link.set_both({});
}

void cut_link(zookeeper_ensemble& all, int server, dice& d) {
  tcp_proxy& link = all.link(server, all.leader());
  link.refuse(true);
  link.reset_all();
  std::this_thread::sleep_for(d.between(100ms, zookeeper_outage));
  link.refuse(false);
}

// The others elect one of them, since elections need no link, and the former leader steps down.
void isolate_leader(zookeeper_ensemble& all, dice& d) {
  const int leader = all.leader();
  std::vector<tcp_proxy*> links;
  for (int id = 1; id <= all.count(); ++id)
    if (id != leader) links.push_back(&all.link(id, leader));
  for (tcp_proxy* each : links) each->set_both({.hold = true});
  std::this_thread::sleep_for(d.between(100ms, zookeeper_outage));
  for (tcp_proxy* each : links) each->set_both({});
}

void kill_the_quorum(zookeeper_ensemble& all, dice& d) {
  zookeeper_server &leader = all.at(all.leader()), &follower = all.at(all.follower());
  leader.kill_hard();
  follower.kill_hard();
  std::this_thread::sleep_for(d.between(50ms, zookeeper_outage));
  leader.start();
  follower.start();
}

}  // namespace holdfast::torture
