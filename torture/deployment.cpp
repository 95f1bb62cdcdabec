#include "torture/deployment.hpp"

#include <holdfast/holdfast.hpp>

#include <cstddef>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "testkit/servers/mariadb_server.hpp"
#include "testkit/servers/redis_server.hpp"
#include "testkit/servers/small_disk.hpp"
#include "testkit/servers/zookeeper_server.hpp"
#include "torture/disk_faults.hpp"

namespace holdfast::torture {
namespace {

constexpr std::size_t kilobytes_for_locks = 256;  // a file takes four of them

// Locks in files: no server, and no network.
class file_deployment final : public deployment {
 public:
  std::string url() const override { return "file://" + disk_.path() + "?unlink=1"; }

  std::vector<fault> server_faults() override {
    std::vector<fault> all{{"store.prune", [this](dice&) {
                              std::error_code ec;
                              client::open(url()).prune(ec);
                            }}};
    // While it is full no lock gets a new file, and those in use keep theirs.
    if (disk_.is_mounted()) {
      all.push_back({"disk.full", [this](dice& d) { fill_for_a_while(disk_, d); }});
      all.push_back({"disk.read-only", [this](dice& d) { forbid_writes_for_a_while(disk_, d); }});
    }
    return all;
  }

  std::vector<std::string> not_played() const override {
    if (disk_.is_mounted()) return {};
    return {disk_not_filled, disk_always_writable};
  }

  std::vector<std::string> left_behind() override {
    std::error_code ec;
    client::open(url()).prune(ec);
    std::vector<std::string> lines;
    for (const auto& each : std::filesystem::directory_iterator(disk_.path())) {
      const auto name = each.path().filename().string();
      if (name.ends_with(".lock") || name.ends_with(".waiters"))
        lines.push_back("the file " + name);
    }
    return lines;
  }

 private:
  testkit::small_disk disk_{kilobytes_for_locks};
};

}  // namespace

std::unique_ptr<deployment> open_file() { return std::make_unique<file_deployment>(); }

std::vector<kind_of_deployment> all_deployments() {
  using namespace testkit;
  const auto unless = [](bool is_installed, const char* text) {
    return is_installed ? std::string() : std::string(text);
  };
  const std::string redis = unless(redis_server::installed(), redis_server::not_installed);
  const std::string tls =
      redis.empty() ? unless(redis_server::has_tls(), redis_server::no_tls) : redis;
  const std::string zookeeper =
      unless(zookeeper_server::installed(), zookeeper_server::not_installed);
  const std::string mysql = unless(mariadb_server::installed(), mariadb_server::not_installed);
  return {
      {"file", "", open_file},
      {"redis", redis, open_redis},
      {"redis-tls", tls, open_redis_with_tls},
      {"redis+sentinel", redis, open_sentinel},
      {"redis+sentinel-async", redis, open_sentinel_async},
      {"redis+cluster", redis, open_cluster},
      {"redis+shards", redis, open_shards},
      {"redlock", redis, open_redlock},
      {"zookeeper", zookeeper, open_zookeeper},
      {"zookeeper-ensemble", zookeeper, open_ensemble},
      {"mysql-row", mysql, open_row},
      {"mysql-row-replica", mysql, open_row_replica},
      {"mysql-insert", mysql, open_insert},
      {"mysql-for-update", mysql, open_for_update},
      {"mysql-named", mysql, open_named},
  };
}

std::string common_options() {
  return "?ttl=" + std::to_string(lease_ttl.count()) +
         "ms&op-timeout=1s&connect-timeout=1s&close-timeout=30s";
}

std::string addresses_of(const std::deque<testkit::tcp_proxy>& links) {
  std::string all;
  for (const auto& each : links)
    all += (all.empty() ? "127.0.0.1:" : ",127.0.0.1:") + std::to_string(each.port());
  return all;
}

}  // namespace holdfast::torture
