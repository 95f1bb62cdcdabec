// MariaDB in the simulator: the model of its server, what troubles it, and how its clients reach
// it.
#pragma once
#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tests/sim/machine/store_model.hpp"
#include "tests/sim/mysql/frames.hpp"
#include "tests/sim/mysql/model/model_mariadb.hpp"
#include "tests/sim/mysql/strategies.hpp"

namespace holdfast::sim {

class world;

class mysql_store final : public store_model, private mariadb_listener {
 public:
  explicit mysql_store(world&);

  std::string url(int client) const override;
  std::span<const seam::scheme> schemes() const override;
  const seam::capabilities& can() const override { return strategy_.can; }
  moment longest_pause() const override;
  moment recovery_max() const override;
  // A lost connection is killed for two op-timeouts, in which none may be opened that can do it.
  bool proves_ends() const override;
  bool needs_each_connection() const override { return true; }
  int trips_of_renewal() const override { return 100; }  // a new connection, and its greeting
  std::string name_of_client(int machine) const override;
  int connect(peer&, const std::string& host) override;
  void receive(int connection, std::string_view bytes) override;
  void disconnect(int connection) override;
  bool is_connected(int connection) const override { return links_.contains(connection); }

  bool is_held_up(int lock) const override;

  rule_set unjudged() const override;
  void learn(std::string_view, connection_use&) const override {}
  std::size_t cut_at(std::string_view bytes, double share) const override {
    return static_cast<std::size_t>(share * static_cast<double>(bytes.size()));
  }
  bool is_refusal(std::string_view reply) const override { return is_error(reply); }
  std::string show(std::string_view bytes) override;
  std::string claim_of(const detail::turn&) const override;

  void happen(const fault&) override;
  void restart() override;
  bool only_refuses(trouble) const override;
  void heal() override;
  std::vector<std::string> left(bool of_crashed) override;

  const played_strategy& strategy() const noexcept { return strategy_; }
  model_mariadb& server() noexcept { return server_; }
  const model_mariadb& server() const noexcept { return server_; }
  std::string_view user_of(std::uint64_t connection) const;  // "": it has not said who it is
  bool is_given_up(std::uint64_t connection) const;  // by its client, but for its last bytes
  // A transaction whose client is gone has locked that row.
  bool is_kept_by_the_gone(const std::string& table, const std::string& name) const;
  std::chrono::microseconds wall() const;  // by the server's clock

 private:
  struct link {  // a client's connection
    peer* to = nullptr;
    std::uint64_t id = 0;
    frame_reader reader{};
    std::string user{};
  };
  // mariadb_listener
  void on_reply(std::uint64_t connection, const model_reply&) override;
  void on_closed(std::uint64_t connection) override;

  void serve(int connection, const std::string& content);
  model_mariadb::time_us now() const;
  bool stands() const;
  void look_ahead();
  void go_on();
  void leap(moment by);
  void lose_writes(moment lasts);
  bool holds_a_lock(std::uint64_t connection) const;

  world& world_;
  const played_strategy& strategy_;
  moment clock_offset_{};
  model_mariadb server_;
  std::map<int, link> links_;
  std::map<std::uint64_t, int> handles_;  // by the server's id
  int last_handle_ = 0;
  moment looks_at_ = moment::max();
};

}  // namespace holdfast::sim
