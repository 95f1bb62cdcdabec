#include "survey/deployment.hpp"
#include "testkit/servers/mariadb_server.hpp"

namespace survey {
namespace {

using holdfast::testkit::mariadb_server;

class mariadb final : public deployment {
 public:
  mariadb() {
    server_.query("CREATE TABLE test.stock (id INT PRIMARY KEY, sold BIGINT NOT NULL DEFAULT 0,"
                  " version BIGINT NOT NULL DEFAULT 0,"
                  " changed DATETIME(6) NOT NULL DEFAULT '2000-01-01 00:00:00')");
    server_.query("INSERT INTO test.stock (id) SELECT seq FROM seq_0_to_255");
  }
  std::string url() const override { return server_.url(); }
  std::vector<pid_t> servers() const override { return {server_.pid()}; }
  double commands() override { return std::stod(server_.status("Questions")); }
  double memory() override { return std::stod(server_.status("Memory_used")); }

 private:
  mariadb_server server_{{.flushes = true, .config = {"max_connections=1500"}}};
};

std::unique_ptr<deployment> start_mariadb() { return std::make_unique<mariadb>(); }

const char* mariadb_missing() {
  return mariadb_server::installed() ? nullptr : mariadb_server::not_installed;
}

constexpr topology all_of_mysql[] = {
    {"mysql", "one MariaDB server that flushes each commit", "mysql", start_mariadb,
     mariadb_missing},
};

}  // namespace

std::span<const topology> mysql_topologies() noexcept { return all_of_mysql; }

}  // namespace survey
