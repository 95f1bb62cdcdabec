#include "backend/redis/examination/required_command.hpp"

namespace holdfast::redis {

std::span<const required_command> commands_of_connections() noexcept {
  static constexpr required_command all[] = {
      {"ping", "PING"},
      {"time", "TIME"},
      {"evalsha", "EVALSHA 0000000000000000000000000000000000000000 0"},
      {"eval", "EVAL return 0"},
      {"script|load", "SCRIPT LOAD return", needed_for::scripts},
      {"client|setname", "CLIENT SETNAME holdfast", needed_for::naming},
      {"client|id", "CLIENT ID", needed_for::recovery},
      {"client|kill", "CLIENT KILL ID 0", needed_for::recovery},
      {"info", "INFO server", needed_for::recovery},
  };
  return all;
}

}  // namespace holdfast::redis
