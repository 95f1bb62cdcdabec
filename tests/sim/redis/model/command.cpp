#include "tests/sim/redis/model/command.hpp"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "tests/sim/redis/model/command_list.hpp"

namespace holdfast::sim {
namespace {

using command_table = std::unordered_map<std::string_view, const command*>;

command_table all_commands() {
  command_table all;
  for (const auto list : {string_commands(), key_commands(), sorted_set_commands(), hash_commands(),
                          list_commands(), client_commands(), message_commands(), group_commands(),
                          script_commands(), server_commands(), cluster_commands()})
    for (const command& c : list) all.emplace(c.name, &c);
  return all;
}

command_table all_commands_of_sentinels() {
  command_table all;
  for (const auto& [name, one] : all_commands())
    if (one->is(of_sentinels_too)) all.emplace(name, one);
  for (const command& c : sentinel_commands()) all.emplace(c.name, &c);
  return all;
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
char upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

// "name" or "name|subname" in lower case; null for what is longer than any name.
const command* look_up(known_to by, std::string_view name, std::string_view subname = {}) {
  static const command_table of_servers = all_commands();
  static const command_table of_sentinels = all_commands_of_sentinels();
  const command_table& all = by == known_to::servers ? of_servers : of_sentinels;
  std::array<char, 40> text;
  if (name.size() + subname.size() + 1 > text.size()) return nullptr;
  auto end = std::transform(name.begin(), name.end(), text.begin(), lower);
  if (!subname.empty()) {
    *end++ = '|';
    end = std::transform(subname.begin(), subname.end(), end, lower);
  }
  const auto found = all.find({text.data(), static_cast<std::size_t>(end - text.begin())});
  return found == all.end() ? nullptr : found->second;
}

// Redis prints names with printf.
std::string_view up_to_nul(std::string_view text, std::size_t most) {
  return text.substr(0, std::min(text.find('\0'), most));
}

std::string unknown(arguments argv) {
  std::string beginning;
  for (std::size_t i = 1; i < argv.size() && beginning.size() < 128; ++i)
    beginning.append("'").append(up_to_nul(argv[i], 128 - beginning.size())).append("' ");
  return "unknown command '" + std::string(up_to_nul(argv[0], 128)) +
         "', with args beginning with: " + beginning;
}

}  // namespace

const command* find_command(arguments argv, std::string& complaint, known_to by) {
  const command* const one = look_up(by, argv[0]);
  if (!one) {
    complaint = unknown(argv);
    return nullptr;
  }
  if (!one->is(has_subcommands) || argv.size() == 1) return one;
  const command* const sub = argv[1].empty() ? nullptr : look_up(by, argv[0], argv[1]);
  if (!sub) {
    complaint = "unknown subcommand '" + std::string(up_to_nul(argv[1], 128)) + "'. Try ";
    for (const char c : argv[0]) complaint.push_back(upper(c));
    complaint += " HELP.";
  }
  return sub;
}

}  // namespace holdfast::sim
