// A command that the model knows, and one call of it.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "tests/sim/redis/model/connection.hpp"
#include "tests/sim/redis/model/resp_writer.hpp"

namespace holdfast::sim {

class server;

using arguments = std::span<const std::string_view>;  // the first is the command's name

struct call {
  server& on;
  connection& by;
  arguments argv;
  resp_writer out;
};

enum command_traits : unsigned {
  writes = 1,
  grows = 2,  // refused when the memory is full
  not_in_scripts = 4,
  before_auth = 8,
  while_loading = 16,
  while_subscribed = 32,
  has_subcommands = 64,
  never_queued = 128,
  of_sentinels_too = 256,  // besides sentinel_commands(): known to sentinels
};

struct command {
  std::string_view name;  // "get", "client|kill"
  int arity;              // as Redis counts: with the name; -n: n or more
  unsigned traits;
  void (*run)(call&);

  bool is(command_traits t) const { return (traits & t) != 0; }
  bool takes(std::size_t given) const {
    const auto n = static_cast<int>(given);
    return arity >= 0 ? n == arity : n >= -arity;
  }
};

enum class known_to { servers, sentinels };
// Null: `complaint`, without a code, says what is wrong. A name of a command with subcommands alone
// is found.
const command* find_command(arguments, std::string& complaint, known_to = known_to::servers);

}  // namespace holdfast::sim
