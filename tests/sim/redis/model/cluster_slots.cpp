#include "tests/sim/redis/model/cluster_slots.hpp"

#include <unordered_set>

#include "tests/sim/redis/model/command_list.hpp"
#include "tests/sim/redis/model/number_text.hpp"

namespace holdfast::sim {
namespace {

std::string_view part_in_braces(std::string_view key) noexcept {
  const auto open = key.find('{');
  if (open == key.npos) return key;
  const auto close = key.find('}', open + 1);
  const bool is_empty = close == open + 1;
  return close == key.npos || is_empty ? key : key.substr(open + 1, close - open - 1);
}

// Commands whose only key is their first argument.
const std::unordered_set<std::string_view>& commands_of_one_key() {
  static const std::unordered_set<std::string_view> all = [] {
    std::unordered_set<std::string_view> out;
    for (const auto list : {string_commands(), key_commands(), sorted_set_commands(),
                            hash_commands(), list_commands()})
      for (const command& c : list) out.insert(c.name);
    for (const std::string_view other : {"del", "unlink", "exists", "scan"}) out.erase(other);
    return out;
  }();
  return all;
}

}  // namespace

int slot_of_key(std::string_view key) noexcept {
  unsigned crc = 0;
  for (const char c : part_in_braces(key)) {
    crc ^= static_cast<unsigned>(static_cast<unsigned char>(c)) << 8;
    for (int i = 0; i < 8; ++i) crc = ((crc & 0x8000) != 0 ? crc << 1 ^ 0x1021 : crc << 1) & 0xffff;
  }
  return static_cast<int>(crc % slots_of_cluster);
}

std::vector<std::string_view> keys_of(const command& what, arguments argv) {
  if (what.name == "del" || what.name == "unlink" || what.name == "exists")
    return {argv.begin() + 1, argv.end()};
  if (what.name == "eval" || what.name == "evalsha") {
    const auto count = whole_number(argv[2]);
    if (!count || *count < 0 || *count > static_cast<long long>(argv.size()) - 3) return {};
    return {argv.begin() + 3, argv.begin() + 3 + *count};
  }
  if (commands_of_one_key().contains(what.name)) return {argv[1]};
  return {};
}

}  // namespace holdfast::sim
