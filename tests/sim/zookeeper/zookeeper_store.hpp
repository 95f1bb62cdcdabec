// ZooKeeper in the simulator: the model of its ensemble, what troubles it, and how its protocol
// reads.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "tests/sim/machine/store_model.hpp"
#include "tests/sim/zookeeper/layouts.hpp"
#include "tests/sim/zookeeper/model/ensemble.hpp"

namespace holdfast::sim {

class world;

class zookeeper_store final : public store_model, private zk::ensemble_host {
 public:
  explicit zookeeper_store(world&);

  std::string url(int client) const override;
  const seam::capabilities& can() const override { return layout_.can; }
  moment longest_pause() const override;
  int trips_of_renewal() const override { return 100; }  // a new connection, and a write
  // One that is attached anew just then can close its session only later.
  std::string name_of_client(int machine) const override {
    return "client" + std::to_string(machine);
  }
  bool accepts(const std::string& host) const override;
  int connect(peer& p, const std::string& host) override;
  void receive(int connection, std::string_view bytes) override;
  void disconnect(int connection) override;
  bool is_connected(int connection) const override { return servers_.is_connected(connection); }
  bool is_in_service(int connection) const override { return servers_.is_in_service(connection); }

  // Its locks change when the servers agree, after the request; requests are not told apart.
  rule_set unjudged() const override { return {rule::owner, rule::old, rule::broken}; }
  void learn(std::string_view, connection_use&) const override {}
  std::size_t cut_at(std::string_view bytes, double share) const override;
  std::string show(std::string_view bytes) override;
  std::string claim_of(const detail::turn&) const override;

  void happen(const fault&) override;
  void restart() override;
  bool only_refuses(trouble) const override { return false; }
  void heal() override;
  std::vector<std::string> left(bool of_crashed) override;

  const zk::ensemble& servers() const noexcept { return servers_; }
  moment now() override;

 private:
  // zk::ensemble_host
  void at(moment, std::function<void()>) override;
  dice& chance() override;
  moment delay() override;

  void change(const std::function<void()>&);
  void kill_for(int server, moment lasts);
  void stop_for(int server, moment lasts);
  void restore(moment lasts);
  void isolate(int server, moment lasts);
  std::vector<std::string> folders_of_locks() const;
  void raise_sequences(const fault&);
  void lower_sequences();
  int some_follower(const fault&) const;
  void foreign(const fault&);
  void ask_for(const std::string& lock);
  void clean_up(const std::string& lock);
  void remove_holder(const fault&);
  std::string foreign_node(const std::string& path, const std::string& text) const;
  void foreign_leaves(const std::string& path, const std::string& text);

  world& world_;
  const zookeeper_layout& layout_;
  zk::ensemble servers_;
  int foreigners_ = 0;
};

}  // namespace holdfast::sim
