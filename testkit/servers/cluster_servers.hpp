// A real Redis Cluster of a test's own: masters and their replicas.
#pragma once
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "testkit/servers/certificates.hpp"
#include "testkit/servers/cluster_view.hpp"
#include "testkit/servers/redis_server.hpp"
#include "testkit/servers/tcp_proxy.hpp"

namespace holdfast::testkit {

struct cluster_options {
  std::size_t masters = 3;
  std::size_t replicas = 1;  // of each master
  std::chrono::milliseconds node_timeout{1000};
  bool full_coverage = true;  // while one slot has no server, the nodes serve no slot
  bool tls = false;           // clients and nodes speak TLS, with certificates of one CA
  bool can_be_cut = false;    // see cut_off(); not with tls
  redis_options servers{};
};

// Servers 0 to masters - 1 are the first masters. They own the slots in equal ranges, in that
// order. The servers that follow are replicas. A shard is a master and its replicas: the servers
// whose numbers are equal modulo the count of masters. A replica never changes to another shard.
// Nodes reach each other whatever passwords they require of clients. A server that is killed and
// started again keeps its identity, and its data with servers.durable. One thread at a time.
//
// Each wait takes at most 90 s. Then it throws std::runtime_error with states() and logs().
class cluster_servers {
 public:
  // Returns when each node serves all slots and lists all replicas, and all replicas are in sync.
  // This takes more than 2 s: a new master waits that long before it serves.
  explicit cluster_servers(const cluster_options& = {});

  // The first masters: "redis+cluster://127.0.0.1:PORT,...", "rediss+cluster:" with tls. `user` is
  // that of the servers: "me:secret@".
  std::string url(const std::string& user = {}) const;
  const certificates& tls_files() const { return *certificates_; }  // only with tls

  redis_server& server(std::size_t i) { return *servers_.at(i); }
  std::size_t server_count() const noexcept { return servers_.size(); }
  const std::string& id(std::size_t i) const { return ids_.at(i); }  // of the node: CLUSTER MYID

  int slot_of(std::string_view key);  // CLUSTER KEYSLOT
  // The owner of the slot that the running nodes report with the highest configuration epoch. This
  // is a killed master until its replica is promoted.
  std::size_t master_of_slot(int slot);
  // A running replica of the master. Throws std::runtime_error when there is none.
  std::size_t replica_of(std::size_t master);

  // CLUSTER FAILOVER, at a replica of a healthy master. Returns when the replica is the master.
  void fail_over(std::size_t master);
  // Waits until another server of the shard has the slots of the former master, and all agree.
  // Returns the new master.
  std::size_t wait_until_failed_over(std::size_t former_master);
  // Waits until the server is a replica, in sync with its shard's master, in the view of all.
  void wait_until_replica(std::size_t i);
  // Waits until all running replicas of the master have what it has written up to now.
  void wait_until_copied(std::size_t master);
  // Waits until every running node serves, and all name the same owner for every slot, with the
  // same epoch. After a master is killed, they also agree before they detect it: see
  // wait_until_failed_over().
  void wait_until_all_agree();

  // A partition: this node and all others receive no messages from each other until reconnect().
  // Clients reach all of them, and a replica still receives what its master writes. A node that is
  // cut off does not count as running. Only with can_be_cut.
  void cut_off(std::size_t i);
  void reconnect(std::size_t i);

  // A slot is moved in three steps, and a test may do anything between them. They throw
  // std::runtime_error when a server returns an error.
  void mark_migrating(int slot, std::size_t from, std::size_t to);
  // Of the keys, those that the source still has.
  void move_keys(const std::vector<std::string>& keys, std::size_t from, std::size_t to);
  std::vector<std::string> keys_of_slot(int slot, std::size_t i);  // that server i has
  // Names the new owner at all masters. Throws while the source has keys of the slot.
  void finish_move(int slot, std::size_t from, std::size_t to);
  // After these steps: waits until all agree that `to` owns the slot.
  void wait_until_moved(int slot, std::size_t to);
  // All steps, until all agree.
  void move_slot(int slot, std::size_t from, std::size_t to);

  std::string states();  // of the running nodes, as they report them
  std::string logs() const;

 private:
  redis_options server_options() const;
  void add_server();
  void join();
  std::string bus_port(std::size_t i) const;
  void assign_replicas();
  bool is_complete();
  bool lists_all(const cluster_view&) const;
  bool lists_all_replicas(std::size_t i);
  bool all_agree();
  bool is_in_sync(std::size_t replica);
  bool is_master(std::size_t i);
  std::optional<std::size_t> other_master_in_shard_of(std::size_t i);  // that has slots

  std::size_t shard_of(std::size_t i) const noexcept { return i % options_.masters; }
  std::size_t server_with(const std::string& id) const;
  std::vector<std::size_t> running() const;
  // All three are empty when the server is not running, or has closed the connection.
  std::string text_from(std::size_t i, const std::vector<std::string>& words);
  std::optional<cluster_view> view_of(std::size_t i);
  std::string reported(std::size_t i, const std::string& info_field);
  // Throws std::runtime_error when the reply is an error, and redis_silent.
  redis_reply checked_command(std::size_t i, const std::vector<std::string>& words);
  void wait_until(const std::string& failure, const std::function<bool()>&);

  const cluster_options options_;
  scratch_folder folder_;
  std::optional<certificates> certificates_;
  std::vector<std::unique_ptr<redis_server>> servers_;
  std::vector<std::unique_ptr<tcp_proxy>> buses_;  // of the servers; empty without can_be_cut
  std::set<std::size_t> cut_off_;
  std::vector<std::string> ids_;
};

}  // namespace holdfast::testkit
