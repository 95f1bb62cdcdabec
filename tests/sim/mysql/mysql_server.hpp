// One MariaDB server of a schedule: its model, and the connections of clients to it.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "tests/sim/machine/peer.hpp"
#include "tests/sim/machine/timeline.hpp"
#include "tests/sim/mysql/frames.hpp"
#include "tests/sim/mysql/model/model_mariadb.hpp"
#include "tests/sim/mysql/strategies.hpp"

namespace holdfast::sim {

class world;

class mysql_server final : private mariadb_listener {
 public:
  using wall_clock = std::function<model_mariadb::time_us()>;
  // `number`: from 0, as store_model::server_of() has it.
  mysql_server(world&, const played_strategy&, wall_clock, int number = 0);

  int connect(peer&);  // a handle, from 1, never used twice
  void receive(int connection, std::string_view bytes);
  void disconnect(int connection);
  bool is_connected(int connection) const { return links_.contains(connection); }
  // What waits may have got what it waited for.
  void go_on();
  // Called when something was committed; empty: never.
  std::function<void()> on_written;

  model_mariadb& model() noexcept { return model_; }
  const model_mariadb& model() const noexcept { return model_; }
  std::string_view user_of(std::uint64_t connection) const;  // "": it has not said who it is
  bool is_given_up(std::uint64_t connection) const;  // by its client, but for its last bytes
  // A transaction whose client is gone has locked that row.
  bool is_kept_by_the_gone(const std::string& table, const std::string& name) const;

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
  void note_writes();
  bool holds_a_lock(std::uint64_t connection) const;
  unsigned drawn_error(std::uint64_t connection);

  world& world_;
  const played_strategy& strategy_;
  const int number_;
  model_mariadb model_;
  std::map<int, link> links_;
  std::map<std::uint64_t, int> handles_;  // by the server's id
  int last_handle_ = 0;
  moment looks_at_ = moment::max();
  std::uint64_t changes_noted_ = 0;
};

}  // namespace holdfast::sim
