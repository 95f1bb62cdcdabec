#include "cli/holder_table.hpp"

#include <algorithm>
#include <array>

#include "cli/dead_holder.hpp"
#include "cli/duration_text.hpp"
#include "cli/holders.hpp"
#include "cli/message.hpp"
#include "cli/utf8.hpp"

namespace holdfast::cli {
namespace {

constexpr std::size_t columns_of_table = 7;
using row = std::array<std::string, columns_of_table>;
constexpr int widest_name = 48;

row row_of(const holder& h, bool is_unsafe) {
  std::string mode = h.mode == lock_mode::shared ? "shared" : "exclusive";
  if (h.mode == lock_mode::permit)
    mode = std::to_string(h.permits) + " of " + std::to_string(h.total_permits);
  if (is_unsafe) mode += " (unsafe)";
  std::string by = h.pid != 0 ? std::to_string(h.pid) + '@' + h.host : std::string("?");
  if (is_dead(h) == true) by += " (dead)";
  const bool ends = h.expires_in != std::chrono::milliseconds::max();
  row out{h.name,
          std::move(mode),
          std::move(by),
          knows_since_when(h) ? spoken(h.held_for) : std::string("?"),
          ends ? spoken(h.expires_in) : std::string("-"),
          h.waiting >= 0 ? std::to_string(h.waiting) : std::string("?"),
          h.note};
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

}  // namespace

std::vector<std::string> table_of(std::span<const holder> all, bool is_unsafe) {
  std::vector<row> rows{{"NAME", "MODE", "HELD BY", "FOR", "EXPIRES IN", "WAITING", "NOTE"}};
  for (const holder& h : all) rows.push_back(row_of(h, is_unsafe));
  std::array<int, columns_of_table> widths{};
  for (const row& r : rows)
    for (std::size_t i = 0; i + 1 < r.size(); ++i)
      widths[i] = std::min(std::max(widths[i], width_of(r[i])), widest_name);
  std::vector<std::string> out;
  for (const row& r : rows) {
    std::string& line = out.emplace_back();
    for (std::size_t i = 0; i < r.size(); ++i) {
      line += r[i];
      if (i + 1 == r.size()) break;
      line.append("  ");
      for (int w = width_of(r[i]); w < widths[i]; ++w) line += ' ';
    }
    line.erase(line.find_last_not_of(' ') + 1);
  }
  return out;
}

}  // namespace holdfast::cli
