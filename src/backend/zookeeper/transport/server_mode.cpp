#include "backend/zookeeper/transport/server_mode.hpp"

namespace holdfast::zookeeper {

server_mode read_mode(std::string_view answer) noexcept {
  constexpr std::string_view label = "\nMode: ";
  const std::size_t at = answer.find(label);
  if (at == std::string_view::npos) return server_mode::unknown;
  std::string_view word = answer.substr(at + label.size());
  const std::size_t end = word.find('\n');
  if (end == std::string_view::npos) return server_mode::unknown;  // cut off
  word = word.substr(0, end);
  if (word == "standalone") return server_mode::standalone;
  if (word == "leader") return server_mode::leader;
  if (word == "follower") return server_mode::follower;
  if (word == "observer") return server_mode::observer;
  return word == "read-only" ? server_mode::read_only : server_mode::unknown;
}

}  // namespace holdfast::zookeeper
