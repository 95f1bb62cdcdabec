// The model and the real server, given the same commands.
#pragma once
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "testkit/servers/redis_server.hpp"
#include "tests/sim/redis/compared/random_commands.hpp"
#include "tests/sim/redis/compared/raw_socket.hpp"
#include "tests/sim/redis/model/model_redis.hpp"

namespace holdfast::sim {

std::string encoded(const command_words&);  // as a client sends it

// The length of the answer at the front of `resp`; 0 when it is not whole.
std::size_t answer_length(std::string_view resp);

// The permitted differences between two answers, besides the order of a SCAN and some ms of a PTTL
// or TTL.
enum class likeness {
  same,
  but_for_times,  // microseconds since 1970, and some of the milliseconds that are left
};

bool same_but_for_times(std::string_view, std::string_view);

class two_servers {
 public:
  two_servers();

  // Both are replicas of a server that is not there, or masters.
  void make_replicas(bool);

  // A connection to each.
  class client final : public peer {
   public:
    explicit client(two_servers&);
    ~client();
    client(const client&) = delete;
    client& operator=(const client&) = delete;
    // Sends the commands to both, and what the answers differ in; "" when they do not. The model
    // gets them cut anywhere. Both ends are in step afterwards.
    std::string differs(const std::vector<command_words>&, likeness = likeness::same);
    std::string begins(const std::vector<command_words>&);  // the same, in a MULTI at the end
    // Sends bytes after which the server closes, and what the last answers differ in.
    std::string last_words(std::string_view bytes);

   private:
    void deliver(std::string_view bytes) override { got_ += bytes; }
    void kicked() override { kicked_ = true; }
    std::string compared(const std::vector<command_words>&, const command_words& last,
                         std::string_view end, likeness);

    two_servers& servers_;
    raw_socket socket_;
    int handle_;
    bool kicked_ = false;
    std::string got_;
  };

 private:
  testkit::redis_server real_;
  model_redis model_;
  std::mt19937_64 numbers_{1};
  std::uint64_t steps_ = 0;
};

}  // namespace holdfast::sim
