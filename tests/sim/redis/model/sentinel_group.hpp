// Model sentinels that watch one master and its replicas.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tests/sim/redis/model/model_redis.hpp"
#include "tests/sim/redis/model/replication.hpp"

namespace holdfast::sim {

class resp_writer;

// Each sentinel has a view of its own, which changes when it hears of another configuration. They
// elect nobody: when a failover takes place, and which of them hear of it, is decided outside.
// ../compared/sentinel_test.cpp compares their answers with those of real ones.
class sentinel_group {
 public:
  static constexpr std::string_view master_name = "main";

  sentinel_group(const model_redis::wall_clock&, int sentinels, const server_address& master,
                 const std::vector<server_address>& replicas);
  sentinel_group(const sentinel_group&) = delete;

  int count() const noexcept { return static_cast<int>(all_.size()); }
  // It answers as a sentinel does.
  model_redis& at(int number) const { return *of(number).runs; }
  const server_address& master_of(int number) const { return of(number).master; }
  std::uint64_t epoch_of(int number) const { return of(number).epoch; }
  // The sentinel hears of a configuration in which this server is the master and the one before is
  // a replica, and announces that, unless it knows that configuration or a later one.
  void hear(int number, const server_address& master, std::uint64_t epoch);

  // For its servers.
  std::string_view id_of(const server&) const;
  void describe_master(const server&, resp_writer&) const;  // SENTINEL MASTER
  void describe_replicas(const server&, resp_writer&) const;
  void describe_others(const server&, resp_writer&) const;  // SENTINEL SENTINELS
  void name_master(const server&, resp_writer&) const;      // GET-MASTER-ADDR-BY-NAME

 private:
  struct sentinel {
    std::unique_ptr<model_redis> runs;
    std::string id;
    server_address master;
    std::uint64_t epoch = 0;  // config-epoch
    std::vector<server_address> replicas;
  };
  const sentinel& of(int number) const { return all_[static_cast<std::size_t>(number)]; }
  const sentinel& of(const server&) const;

  std::vector<sentinel> all_;
};

}  // namespace holdfast::sim
