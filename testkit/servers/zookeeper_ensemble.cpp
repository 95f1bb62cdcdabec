#include "testkit/servers/zookeeper_ensemble.hpp"

#include <algorithm>
#include <chrono>
#include <stdexcept>

#include "testkit/eventually.hpp"
#include "testkit/servers/port.hpp"

namespace holdfast::testkit {
namespace {

constexpr std::chrono::seconds election_bound{60};

}  // namespace

template <class Condition>
int zookeeper_ensemble::one_where(Condition is_so) {
  int found = 0;
  const auto has_one = [&] {
    for (int id = 1; id <= servers && found == 0; ++id)
      if (is_so(at(id).mode())) found = id;
    return found != 0;
  };
  if (!eventually(has_one, election_bound))
    throw std::runtime_error("the zookeeper servers do not agree: " + logs());
  return found;
}

zookeeper_ensemble::zookeeper_ensemble(const zookeeper_options& options,
                                       const std::vector<std::string>& lines_of_first,
                                       bool has_observer,
                                       const std::vector<std::string>& data_folders)
    : count_(has_observer ? observer : servers) {
  std::vector<int> clients, quorums, elections;
  for (int i = 0; i < count_; ++i) {
    clients.push_back(free_port());
    quorums.push_back(free_port());
    elections.push_back(free_port());
  }
  for (int from = 1; from <= count_; ++from)
    for (int to = 1; to <= count_; ++to)
      links_.push_back(from == to ? nullptr : std::make_unique<tcp_proxy>(quorums[to - 1]));
  for (int id = 1; id <= count_; ++id) {
    zookeeper_options mine = options;
    mine.id = id;
    mine.port = clients[id - 1];
    if (id == 1)
      mine.config.insert(mine.config.end(), lines_of_first.begin(), lines_of_first.end());
    if (id == observer)
      mine.config.push_back("peerType=observer");
    else if (!data_folders.empty())
      mine.data_folder = data_folders.at(static_cast<std::size_t>(id - 1));
    // Each sees the others at the ends of its own links.
    for (int other = 1; other <= count_; ++other) {
      const int quorum = other == id ? quorums[id - 1] : link(id, other).port();
      mine.config.push_back(
          "server." + std::to_string(other) + "=127.0.0.1:" + std::to_string(quorum) + ':' +
          std::to_string(elections[other - 1]) + (other == observer ? ":observer" : ""));
    }
    servers_.push_back(std::make_unique<zookeeper_server>(mine));
  }
  (void)one_where([this](const std::string&) { return all_serve(); });
}

bool zookeeper_ensemble::all_serve() const {
  return std::ranges::none_of(servers_, [](const auto& s) { return s->mode().empty(); });
}

std::string zookeeper_ensemble::logs() const {
  std::string out;
  for (const auto& server : servers_) out += server->log();
  return out;
}

std::string zookeeper_ensemble::url() const {
  std::string out = "zookeeper://";
  for (int id = 1; id <= servers; ++id)
    out += (id == 1 ? "127.0.0.1:" : ",127.0.0.1:") + std::to_string(servers_.at(id - 1)->port());
  return out;
}

int zookeeper_ensemble::leader() {
  return one_where([](const std::string& mode) { return mode == "leader"; });
}

int zookeeper_ensemble::follower() {
  return one_where([](const std::string& mode) { return mode == "follower"; });
}

}  // namespace holdfast::testkit
