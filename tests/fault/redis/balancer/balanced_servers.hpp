// Two or three servers, one of them the master, behind a balancer that makes mistakes.
#pragma once
#include <chrono>
#include <cstdint>
#include <deque>
#include <random>
#include <string>
#include <vector>

#include "tests/fault/redis/two_servers.hpp"

namespace holdfast::redis_test {

class balanced_servers {
 public:
  balanced_servers(std::uint64_t seed, int count);

  int count() const noexcept { return static_cast<int>(servers_.size()); }
  redis_server& at(int i) { return servers_.at(static_cast<std::size_t>(i)); }
  int master() const noexcept { return master_; }
  redis_server& right_master() { return at(master_); }
  int another(int but = -1);  // a server that is neither the master nor this one

  // From here on this server is the right master. The former one is not told.
  void appoint(int server);
  // The same for the name: the time in which two may hold begins.
  void lead_to(int server) { name.lead_to(at(server)); }
  void lead_at_random(const std::vector<int>& servers);
  void lead_to_any();
  // Ends the connections to that server that are for these, or all.
  void cut(int server, const std::vector<std::string>& lanes);
  void cut_all() { name.proxy.reset_all(); }
  void cut_some();  // of all servers, each or not
  // All but the right master replicate it, and both names lead to it.
  void heal();

  void pause(int least_ms, int most_ms);
  int draw(int least, int most) { return std::uniform_int_distribution(least, most)(dice_); }

 private:
  std::mt19937_64 dice_;
  std::deque<redis_server> servers_;
  int master_ = 0;

 public:
  // The name that faults mislead, and one that leads to the right master at once and ends its
  // connections to others.
  floating_name name{servers_[0]}, right_name{servers_[0]};
};

}  // namespace holdfast::redis_test
