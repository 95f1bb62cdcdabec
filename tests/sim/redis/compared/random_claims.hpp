// Lists of what holdfast itself sends to a server, drawn from a seed: its own scripts.
#pragma once
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "backend/redis/transport/script_cache.hpp"
#include "tests/sim/redis/compared/random_commands.hpp"

namespace holdfast::sim {

// Four claims of two clients and one that is not holdfast's want one lock.
class random_claims {
 public:
  explicit random_claims(std::uint64_t seed) : numbers_(seed) {}

  std::vector<command_words> list();        // leaves the server empty
  std::vector<command_words> subscriber();  // one client listens, or both, or none

 private:
  int below(int n) { return static_cast<int>(numbers_() % static_cast<std::uint64_t>(n)); }
  std::string owner(), member(), any_owner();
  void add_take(std::vector<command_words>&);
  command_words call(const redis::script&, std::vector<std::string> arguments);
  command_words any_script();
  command_words meddling();

  std::mt19937_64 numbers_;
  std::string member_ = "hfs:";  // what shares the lock in this list
  int alone_ = 50;               // of a hundred calls, those about a lock that is held alone
};

}  // namespace holdfast::sim
