// The mode that a server reports to a four-letter command.
#pragma once
#include <cstddef>
#include <string_view>

namespace holdfast::zookeeper {

enum class server_mode : unsigned char {
  unknown,  // it does not say: an election, a limit of connections, the word is not allowed
  standalone,
  leader,
  follower,
  observer,
  read_only,
};

inline constexpr std::string_view mode_question = "srvr";
inline constexpr std::size_t mode_answer_max = 16'384;

// Reads the whole answer to mode_question.
server_mode read_mode(std::string_view answer) noexcept;

// It executes requests, and touches sessions, by itself.
constexpr bool leads(server_mode m) noexcept {
  return m == server_mode::leader || m == server_mode::standalone;
}

}  // namespace holdfast::zookeeper
