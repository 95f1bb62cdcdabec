// Lists of what a layout of the retrying recipe sends to a server, drawn from a seed: its own
// scripts, as its codec calls them.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "backend/redis/layouts/retrying_codec.hpp"
#include "tests/sim/redis/compared/random_commands.hpp"

namespace holdfast::sim {

// Four owners and one that is not holdfast's want two locks. Leaves the server empty.
class random_owners {
 public:
  random_owners(const redis::retrying_codec& c, std::uint64_t seed) : codec_(c), numbers_(seed) {}

  std::vector<command_words> list();
  std::vector<command_words> subscriber();  // listens to what the locks' owners wait for

 private:
  int below(int n) { return static_cast<int>(numbers_() % static_cast<std::uint64_t>(n)); }
  std::string any(std::initializer_list<std::string_view> all) {
    return std::string(all.begin()[below(static_cast<int>(all.size()))]);
  }
  redis::retrying_owner owner();
  redis::lock_request request_of(const redis::retrying_owner&, const std::string& text);
  lock_mode mode();
  command_words operation();
  command_words renewals();
  command_words query();
  command_words meddling();

  const redis::retrying_codec& codec_;
  std::mt19937_64 numbers_;
};

}  // namespace holdfast::sim
