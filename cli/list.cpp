// holdfast list
#include <algorithm>
#include <array>

#include "cli/commands.hpp"
#include "cli/dead_holder.hpp"
#include "cli/duration_text.hpp"
#include "cli/help.hpp"
#include "cli/holders.hpp"
#include "cli/look_arguments.hpp"
#include "cli/message.hpp"
#include "cli/place.hpp"
#include "cli/utf8.hpp"

namespace holdfast::cli {
namespace {

constexpr std::size_t columns_of_list = 7;
using row = std::array<std::string, columns_of_list>;
constexpr int widest_name = 48;

row row_of(const holder& who, bool is_unsafe) {
  std::string mode = who.mode == lock_mode::shared ? "shared" : "exclusive";
  if (who.mode == lock_mode::permit)
    mode = std::to_string(who.permits) + " of " + std::to_string(who.total_permits);
  if (is_unsafe) mode += " (unsafe)";
  std::string by = who.pid != 0 ? std::to_string(who.pid) + '@' + who.host : std::string("?");
  if (is_dead(who) == true) by += " (dead)";
  const bool ends = who.expires_in != std::chrono::milliseconds::max();
  row out{who.name,
          std::move(mode),
          std::move(by),
          knows_since_when(who) ? spoken(who.held) : std::string("?"),
          ends ? spoken(who.expires_in) : std::string("-"),
          who.waiting >= 0 ? std::to_string(who.waiting) : std::string("?"),
          who.note};
  for (std::string& cell : out) cell = printable(cell);
  return out;
}

int width_of(std::string_view text) {
  int total = 0;
  while (!text.empty()) {
    const auto [code, size] = first_code_point(text);
    total += columns(code);
    text.remove_prefix(size);
  }
  return total;
}

std::string table_of(const std::vector<holder>& all, bool is_unsafe) {
  std::vector<row> rows{{"NAME", "MODE", "HELD BY", "FOR", "EXPIRES IN", "WAITING", "NOTE"}};
  for (const holder& who : all) rows.push_back(row_of(who, is_unsafe));
  std::array<int, columns_of_list> widths{};
  for (const row& r : rows)
    for (std::size_t i = 0; i + 1 < r.size(); ++i)
      widths[i] = std::min(std::max(widths[i], width_of(r[i])), widest_name);
  std::string out;
  for (const row& r : rows) {
    for (std::size_t i = 0; i < r.size(); ++i) {
      out += r[i];
      if (i + 1 == r.size()) break;
      out.append("  ");
      for (int w = width_of(r[i]); w < widths[i]; ++w) out += ' ';
    }
    out.erase(out.find_last_not_of(' ') + 1);
    out += '\n';
  }
  return out;
}

std::string array_of(const std::vector<holder>& all, bool is_unsafe) {
  std::vector<json_object> out;
  for (const holder& who : all) {
    out.push_back(json_of(who));
    if (is_unsafe) out.back().members.emplace_back("unsafe", true);
  }
  return json_text(out);
}

}  // namespace

int list(int argc, char** argv) {
  const auto arguments = parse_look_arguments(look::list, argc, argv);
  if (arguments.help) return print(help_text("list"));
  const place at = place_of(arguments.url);
  refuse_memory(at);
  const client where = client::open(at.text);
  const auto all = where.list(arguments.name);
  const bool is_unsafe = where.features().unsafe;
  if (arguments.json) return print(array_of(all, is_unsafe));
  return all.empty() ? 0 : print(table_of(all, is_unsafe));
}

}  // namespace holdfast::cli
