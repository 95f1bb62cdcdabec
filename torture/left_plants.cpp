#include "torture/left_plants.hpp"

#include <holdfast/holdfast.hpp>

#include <cstddef>
#include <fstream>
#include <string>
#include <utility>

#include "testkit/servers/mariadb_link.hpp"
#include "testkit/servers/mariadb_server.hpp"
#include "testkit/servers/redis_link.hpp"
#include "testkit/servers/zookeeper_link.hpp"

namespace holdfast::torture {
namespace {

using testkit::mariadb_server;

// A file that pruning spares: its content is no record of a lock.
void leave_file(const url& store) { std::ofstream(store.path() + "/left.lock") << "left\n"; }

// More than the servers of a campaign may have for its locks.
void leave_nodes(const url& store) {
  constexpr std::size_t nodes_of_a_lock = 3;
  testkit::zookeeper_link link(store.endpoints().front().port);
  for (std::size_t i = 0; i <= lock_count * nodes_of_a_lock; ++i)
    link.create("/left" + std::to_string(i));
}

// In a part of the tree in which the locks of the campaign are not, so that list() does not show
// its lock.
std::shared_ptr<void> left_session(const deployment& servers, const url& store) {
  testkit::zookeeper_link(store.endpoints().front().port).create("/left");
  std::string text = servers.url();
  text.insert(text.find('?'), "/left");
  client other = client::open(text);
  lease held = other.mutex("left").acquire();
  return std::make_shared<std::pair<client, lease>>(std::move(other), std::move(held));
}

std::shared_ptr<void> left_channel(const url& store) {
  const auto& server = store.endpoints().front();
  auto link = std::make_shared<testkit::redis_link>(server.host, server.port);
  link->command({"SUBSCRIBE", "left"});
  return link;
}

std::shared_ptr<void> left_transaction(const url& store) {
  auto link = std::make_shared<testkit::mariadb_link>(
      testkit::sql_login{.port = store.endpoints().front().port,
                         .user = mariadb_server::user,
                         .password = mariadb_server::password,
                         .database = mariadb_server::database});
  link->query("CREATE TABLE left_open (id INT) ENGINE=InnoDB");
  link->query("BEGIN");
  link->query("INSERT INTO left_open VALUES (1)");
  return link;
}

}  // namespace

std::shared_ptr<void> plant_in_store(deployment& servers, plant planted) {
  const url store = url::parse(servers.url());
  const std::string& scheme = store.scheme();
  if (planted == plant::left_key) {
    servers.plant_left_key();
    if (scheme == "file") leave_file(store);
    if (scheme == "zookeeper") leave_nodes(store);
  }
  if (planted == plant::left_session && scheme == "zookeeper") return left_session(servers, store);
  if (planted == plant::left_channel && scheme == "redis") return left_channel(store);
  if (planted == plant::left_transaction && scheme == "mysql") return left_transaction(store);
  return nullptr;
}

}  // namespace holdfast::torture
