// The masters of a Redlock in the simulator. Each is a model of a Redis server, with data and a
// clock of its own.
#pragma once
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tests/sim/machine/store_model.hpp"
#include "tests/sim/redis/model/model_redis.hpp"
#include "tests/sim/redis/requests.hpp"

namespace holdfast::sim {

class world;

class redlock_store final : public store_model {
 public:
  explicit redlock_store(world&);

  std::string url(int client) const override;
  const seam::capabilities& can() const override { return can_; }
  moment recovery_max() const override;
  std::string name_of_client(int machine) const override {
    return "client" + std::to_string(machine);
  }
  bool accepts(const std::string& host) const override;
  int connect(peer&, const std::string& host) override;
  void receive(int connection, std::string_view bytes) override;
  void disconnect(int connection) override;
  bool is_connected(int connection) const override;
  bool is_in_service(int connection) const override;
  int server_of(int connection) const override { return connection % handles; }
  moment stands_until(int connection) const override;

  void learn(std::string_view bytes, connection_use&) const override;
  std::size_t cut_at(std::string_view bytes, double share) const override {
    return sim::cut_at(bytes, share);
  }
  bool is_refusal(std::string_view reply) const override {
    return reply.starts_with('-') || reply.find("\r\n-") != reply.npos;
  }
  std::string show(std::string_view bytes) override { return requests_.show(bytes); }
  std::string claim_of(const detail::turn&) const override;

  void happen(const fault&) override;
  void restart() override;
  bool only_refuses(trouble) const override { return false; }
  void heal() override;
  std::vector<std::string> left(bool of_crashed) override;

  // For the judge.
  int servers() const noexcept { return static_cast<int>(masters_.size()); }
  int majority() const noexcept { return servers() / 2 + 1; }
  model_redis& at(int server) noexcept { return *masters_[static_cast<std::size_t>(server)].runs; }
  std::int64_t now_ms(int server) const;
  // It is reachable, and has refused nothing for a while: a refused withdrawal is repeated after a
  // second.
  bool is_well(int server) const;
  std::int64_t number_at(int server);  // 0: it has no record
  moment max_ttl() const;
  moment node_timeout() const;

 private:
  static constexpr int handles = 16;  // a connection's handle is its server's times this, and the
                                      // number of the server
  struct master {
    std::unique_ptr<model_redis> runs;
    moment clock_offset{};
    bool keeps_log = false;  // an append-only file
    int deaths = 0;          // that it has not come back from
    moment stands_until{}, refuses_until{};
  };
  master& of(int connection) { return masters_[static_cast<std::size_t>(connection % handles)]; }
  const master& of(int connection) const {
    return masters_[static_cast<std::size_t>(connection % handles)];
  }
  std::chrono::microseconds wall(const master&) const;
  void prepare(master&, std::int64_t number);
  void kill(master&, moment lasts, kept);
  void come_back(master&, kept);
  void flush(master&);
  void step_clock(master&, moment by);
  void refuse(master&, trouble, moment lasts);
  void note_lost_records();
  static void set_refusal(master&, trouble, bool begins);

  world& world_;
  const seam::capabilities can_;
  std::deque<master> masters_;
  request_texts requests_;
};

}  // namespace holdfast::sim
