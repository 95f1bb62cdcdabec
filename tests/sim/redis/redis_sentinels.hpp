// The sentinels of two Redis servers in the simulator: what each of them knows, and who reaches it.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/sim/machine/store_model.hpp"
#include "tests/sim/redis/model/sentinel_group.hpp"

namespace holdfast::sim {

class world;

// A connection to a sentinel has a negative handle, which tells the sentinel.
class redis_sentinels {
 public:
  redis_sentinels(world&, const model_redis::wall_clock&, const server_address& master,
                  const server_address& replica);

  static bool has(int connection) noexcept { return connection < 0; }
  bool has(const std::string& host) const { return number_of(host) >= 0; }
  std::string hosts() const;                                   // "10.0.0.11,10.0.0.12"
  bool accepts(const std::string& host) const;                 // that sentinel runs
  bool is_reached(const std::string& host, int client) const;  // of sentinels and servers
  int connect(peer&, const std::string& host);
  void receive(int connection, std::string_view bytes);
  void disconnect(int connection);
  bool is_connected(int connection) const;
  moment stands_until(int connection) const { return of(connection).stands_until; }

  // A majority votes for a failover. False: most of them are out of touch with each other. No
  // trouble hits those that vote before they have announced the new master.
  bool begin_failover();
  // They hear that this server is the master from `first` on, one after the other. A majority has
  // heard when `rest` has passed after that, and `on_majority` is called then.
  void announce(const server_address& master, moment first, moment rest,
                std::function<void()> on_majority);

  void happen(const fault&);
  void heal();

 private:
  struct sentinel {
    moment stands_until{}, killed_until{}, cut_until{};
    bool has_missed = false;  // what it was to hear
  };
  static constexpr int handles = 16;
  static int sentinel_of(int connection) noexcept { return -connection % handles; }
  model_redis& at(int connection) const { return group_.at(sentinel_of(connection)); }
  const sentinel& of(int connection) const {
    return all_[static_cast<std::size_t>(sentinel_of(connection))];
  }
  int number_of(const std::string& host) const;  // -1: of none
  bool is_in_touch(const sentinel&) const;
  int majority() const noexcept { return group_.count() / 2 + 1; }
  void hear(int number);
  void come_back(int number);

  world& world_;
  sentinel_group group_;
  std::vector<sentinel> all_;
  int cut_client_ = -1;  // it has made no connection before
  moment client_cut_until_{};
  std::vector<int> voters_;  // the order in which they hear of the failover that is under way
  std::uint64_t epoch_ = 0;  // of the last failover
  server_address master_;    // of that epoch
};

}  // namespace holdfast::sim
