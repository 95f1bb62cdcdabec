// MariaDB in the simulator: its server, or two, what troubles it, and how its clients reach it.
#pragma once
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/sim/machine/store_model.hpp"
#include "tests/sim/mysql/mysql_roles.hpp"
#include "tests/sim/mysql/mysql_server.hpp"
#include "tests/sim/mysql/strategies.hpp"

namespace holdfast::sim {

class world;

class mysql_store final : public store_model {
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
  bool needs_each_server() const override { return false; }  // the primary alone
  int trips_of_renewal() const override { return 100; }      // a new connection, and its greeting
  std::string name_of_client(int machine) const override;
  int connect(peer&, const std::string& host) override;
  void receive(int connection, std::string_view bytes) override;
  void disconnect(int connection) override;
  bool is_connected(int connection) const override;
  // A client has no use for a server that is not the primary.
  bool is_in_service(int connection) const override {
    return is_connected(connection) && leads(connection);
  }
  bool accepts(const std::string& host) const override { return !roles_ || roles_->accepts(host); }
  int server_of(int connection) const override {
    return roles_ ? mysql_roles::server_of(connection) : 0;
  }
  int leading_server() const override { return roles_ ? roles_->leading() : 0; }

  bool is_held_up(int lock) const override;
  moment longest_release() const override;

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
  // The server that leads.
  model_mariadb& server() noexcept { return leader().model(); }
  const model_mariadb& server() const noexcept { return leader().model(); }
  std::vector<const model_mariadb*> servers() const;
  std::string_view user_of(std::uint64_t connection) const { return leader().user_of(connection); }
  bool is_given_up(std::uint64_t connection) const { return leader().is_given_up(connection); }
  bool is_kept_by_the_gone(const std::string& table, const std::string& name) const {
    return leader().is_kept_by_the_gone(table, name);
  }
  std::chrono::microseconds wall() const;  // by the server's clock

 private:
  mysql_server& leader() noexcept { return roles_ ? roles_->at(roles_->leading()) : server_; }
  const mysql_server& leader() const noexcept {
    return roles_ ? std::as_const(*roles_).at(roles_->leading()) : server_;
  }
  void leap(moment by);
  void lose_writes(moment lasts);

  world& world_;
  const played_strategy& strategy_;
  moment clock_offset_{};
  mysql_server server_;                 // where there is only one
  std::unique_ptr<mysql_roles> roles_;  // of two
};

}  // namespace holdfast::sim
