// Redis in the simulator: the model of its server, what troubles it, and how its protocol reads.
#pragma once
#include <chrono>
#include <string>
#include <string_view>

#include "tests/sim/machine/store_model.hpp"
#include "tests/sim/redis/layouts.hpp"
#include "tests/sim/redis/model/model_redis.hpp"
#include "tests/sim/redis/requests.hpp"

namespace holdfast::sim {

class world;

class redis_store final : public store_model {
 public:
  explicit redis_store(world&);

  std::string url(int) const override;
  const core::capabilities& can() const override { return layout_.can; }
  moment longest_pause() const override { return layout_.longest_pause; }
  moment window_of_waiter() const override { return layout_.window_of_waiter; }
  std::string name_of_client(int machine) const override;
  int connect(peer& p, const std::string&) override { return server_.connect(p); }
  void receive(int connection, std::string_view bytes) override {
    server_.receive(connection, bytes);
  }
  void disconnect(int connection) override { server_.disconnect(connection); }
  bool is_connected(int connection) const override { return server_.is_connected(connection); }

  void learn(std::string_view bytes, connection_use&) const override;
  std::size_t cut_at(std::string_view bytes, double share) const override;
  std::string show(std::string_view bytes) override { return requests_.show(bytes); }
  std::string claim_of(const detail::turn&) const override;

  void happen(const fault&) override;
  void restart() override { restart(kept::everything); }
  bool only_refuses(trouble) const override;
  void heal() override;
  bool is_clean() override;

  model_redis& server() noexcept { return server_; }
  std::chrono::microseconds wall() const;  // by the server's clock

 private:
  void restart(kept);
  void resync(moment lasts);
  void leap(moment by);
  void excuse_an_old_queue();
  void lose_data();
  void set_clock_back(const fault&);
  void foreign(const fault&);
  void foreign_leaves(const std::string& lock, const std::string& mine);

  world& world_;
  const played_layout& layout_;
  moment clock_offset_{};
  model_redis server_;
  request_texts requests_;
  int foreigners_ = 0;
};

}  // namespace holdfast::sim
