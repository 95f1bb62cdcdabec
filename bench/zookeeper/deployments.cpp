#include <cstdlib>

#include "survey/deployment.hpp"
#include "testkit/servers/zookeeper_ensemble.hpp"

namespace survey {
namespace {

using namespace holdfast::testkit;

// Packets: a request of a client each.
double commands_of(const zookeeper_server& server) {
  const std::string reply = server.ask("srvr");
  const auto at = reply.find("Received: ");
  return at == std::string::npos ? 0 : std::strtod(reply.c_str() + at + 10, nullptr);
}

// The memory of the nodes, as the server estimates it.
double memory_of(const zookeeper_server& server) {
  constexpr std::string_view field = "zk_approximate_data_size\t";
  const std::string reply = server.ask("mntr");
  const auto at = reply.find(field);
  return at == std::string::npos ? 0 : std::strtod(reply.c_str() + at + field.size(), nullptr);
}

class zookeeper_alone final : public deployment {
 public:
  std::string url() const override { return server_.url(); }
  std::vector<pid_t> servers() const override { return {server_.pid()}; }
  double commands() override { return commands_of(server_); }
  double memory() override { return memory_of(server_); }

 private:
  zookeeper_server server_{{.is_measured = true}};
};

class ensemble final : public deployment {
 public:
  std::string url() const override { return servers_.url(); }
  std::vector<pid_t> servers() const override {
    std::vector<pid_t> all;
    for (int id = 1; id <= zookeeper_ensemble::servers; ++id) all.push_back(servers_.at(id).pid());
    return all;
  }
  double commands() override {
    double all = 0;
    for (int id = 1; id <= zookeeper_ensemble::servers; ++id) all += commands_of(servers_.at(id));
    return all;
  }
  double memory() override {
    double all = 0;
    for (int id = 1; id <= zookeeper_ensemble::servers; ++id) all += memory_of(servers_.at(id));
    return all;
  }

 private:
  mutable zookeeper_ensemble servers_{{.is_measured = true}};
};

std::unique_ptr<deployment> start_alone() { return std::make_unique<zookeeper_alone>(); }
std::unique_ptr<deployment> start_ensemble() { return std::make_unique<ensemble>(); }

const char* zookeeper_missing() {
  return zookeeper_server::installed() ? nullptr : zookeeper_server::not_installed;
}

constexpr topology all_of_zookeeper[] = {
    {"zookeeper", "one ZooKeeper server", "zookeeper", start_alone, zookeeper_missing},
    {"zookeeper-3", "three ZooKeeper servers", "zookeeper", start_ensemble, zookeeper_missing},
};

}  // namespace

std::span<const topology> zookeeper_topologies() noexcept { return all_of_zookeeper; }

}  // namespace survey
