#include "tests/sim/redis/model/request_parser.hpp"

#include <optional>

#include "tests/sim/redis/model/number_text.hpp"

namespace holdfast::sim {
namespace {

constexpr long long most_arguments = 1024 * 1024;
constexpr long long longest_argument = 512LL * 1024 * 1024;

// The line without its end, taken off the front; nothing when its end has not come.
std::optional<std::string_view> take_line(std::string_view& bytes) {
  const std::size_t end = bytes.find("\r\n");
  if (end == bytes.npos) return std::nullopt;
  const auto line = bytes.substr(0, end);
  bytes.remove_prefix(end + 2);
  return line;
}

parsed parse_argument(std::string_view& rest, std::vector<std::string_view>& argv,
                      std::string& complaint) {
  if (!rest.empty() && rest.front() != '$') {
    complaint = std::string("Protocol error: expected '$', got '") + rest.front() + "'";
    return parsed::broken;
  }
  const auto header = take_line(rest);
  if (!header) return parsed::part;
  const auto size = whole_number(header->substr(1));
  if (!size || *size < 0 || *size > longest_argument) {
    complaint = "Protocol error: invalid bulk length";
    return parsed::broken;
  }
  const auto length = static_cast<std::size_t>(*size);
  if (rest.size() < length + 2) return parsed::part;
  argv.push_back(rest.substr(0, length));
  rest.remove_prefix(length + 2);
  return parsed::whole;
}

}  // namespace

parsed parse_request(std::string_view& bytes, std::vector<std::string_view>& argv,
                     std::string& complaint) {
  argv.clear();
  if (bytes.empty()) return parsed::part;
  if (bytes.front() != '*') {
    complaint = "the model takes no inline commands";
    return parsed::broken;
  }
  std::string_view rest = bytes;
  const auto header = take_line(rest);
  if (!header) return parsed::part;
  const auto count = whole_number(header->substr(1));
  if (!count || *count > most_arguments) {
    complaint = "Protocol error: invalid multibulk length";
    return parsed::broken;
  }
  for (long long i = 0; i < *count; ++i) {
    const parsed one = parse_argument(rest, argv, complaint);
    if (one != parsed::whole) return one;
  }
  bytes = rest;
  return parsed::whole;
}

}  // namespace holdfast::sim
