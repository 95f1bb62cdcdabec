// Redis in the simulator: the model of its server, what troubles it, and how its protocol reads.
#pragma once
#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "tests/sim/machine/store_model.hpp"
#include "tests/sim/redis/layouts.hpp"
#include "tests/sim/redis/model/model_redis.hpp"
#include "tests/sim/redis/redis_masters.hpp"
#include "tests/sim/redis/redis_roles.hpp"
#include "tests/sim/redis/redis_sentinels.hpp"
#include "tests/sim/redis/requests.hpp"

namespace holdfast::sim {

class world;

class redis_store final : public store_model {
 public:
  explicit redis_store(world&);

  std::string url(int) const override;
  const seam::capabilities& can() const override { return layout_.can; }
  moment longest_pause() const override { return layout_.longest_pause; }
  moment window_of_waiter() const override { return layout_.window_of_waiter; }
  rule_set unjudged() const override;
  moment recovery_max() const override;
  bool always_listens() const override { return layout_.is_usual(); }
  bool needs_each_connection() const override { return masters_ != nullptr; }
  std::string name_of_client(int machine) const override;
  bool has_locks(const std::string& host) const override {
    return !sentinels_ || !sentinels_->has(host);
  }
  bool accepts(const std::string& host) const override {
    return has_locks(host) || sentinels_->accepts(host);
  }
  bool is_reached(const std::string& host, int client) const override {
    return !sentinels_ || sentinels_->is_reached(host, client);
  }
  int connect(peer&, const std::string& host) override;
  void receive(int connection, std::string_view bytes) override;
  void disconnect(int connection) override;
  bool is_connected(int connection) const override;
  int server_of(int connection) const override;
  bool is_in_service(int connection) const override {
    const bool is_beside = redis_sentinels::has(connection);
    return is_connected(connection) && (is_beside || leads(connection));
  }
  moment stands_until(int connection) const override {
    if (redis_sentinels::has(connection)) return sentinels_->stands_until(connection);
    return roles_ ? roles_->stands_until(connection) : moment{};
  }
  int leading_server() const override { return roles_ ? roles_->leading() : 0; }
  bool leads(int connection) const override {
    return masters_ || server_of(connection) == leading_server();
  }

  void learn(std::string_view bytes, connection_use&) const override;
  std::size_t cut_at(std::string_view bytes, double share) const override;
  // Or has one in it.
  bool is_refusal(std::string_view reply) const override {
    return reply.starts_with('-') || reply.find("\r\n-") != reply.npos;
  }
  std::string show(std::string_view bytes) override { return requests_.show(bytes); }
  std::string claim_of(const detail::turn&) const override;

  void happen(const fault&) override;
  void restart() override { restart(kept::everything); }
  bool only_refuses(trouble) const override;
  void heal() override;
  std::vector<std::string> left(bool of_crashed) override;

  // The one whose grants count, but while each_server() shows the others. Of a cluster it is any.
  model_redis& server() {
    if (masters_) return masters_->at(std::max(shown_, 0));
    return roles_ ? roles_->at(shown_server()) : server_;
  }
  // Of a cluster the one that has the key, or else its slot.
  model_redis& server_with(std::string_view key) {
    return masters_ ? masters_->with(key) : server();
  }
  bool has_listener(std::string_view channel) {
    return masters_ ? masters_->has_listener(channel) : server().has_listener(channel);
  }
  template <class Look>
  void each_server(Look look) {
    const int all = world_servers();
    for (int i = 0; i < all; ++i) {
      shown_ = i;
      look();
    }
    shown_ = -1;
  }
  std::chrono::microseconds wall() const;  // by the server's clock

 private:
  int shown_server() const noexcept { return shown_ < 0 ? roles_->leading() : shown_; }
  int world_servers() const noexcept;
  void restart(kept);
  void resync(moment lasts);
  void leap(moment by);
  void excuse_key(const std::string& name);
  void lose_data();
  void set_clock_back(const fault&);
  void refuse(trouble, bool begins);
  void allow_all();
  void lose_key();
  void lose_writes(moment lasts);
  void foreign(const fault&);
  void foreign_leaves(const std::string& lock, const std::string& mine);

  world& world_;
  const played_layout& layout_;
  moment clock_offset_{};
  model_redis server_;                          // where there is only one
  std::unique_ptr<redis_roles> roles_;          // of two
  std::unique_ptr<redis_sentinels> sentinels_;  // of these
  std::unique_ptr<redis_masters> masters_;      // of a cluster
  int shown_ = -1;
  request_texts requests_;
  int foreigners_ = 0;
};

}  // namespace holdfast::sim
