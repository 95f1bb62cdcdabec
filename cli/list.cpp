// holdfast list
#include "cli/commands.hpp"
#include "cli/help.hpp"
#include "cli/holder_table.hpp"
#include "cli/holders.hpp"
#include "cli/look_arguments.hpp"
#include "cli/message.hpp"
#include "cli/place.hpp"

namespace holdfast::cli {
namespace {

std::string array_of(const std::vector<holder>& all, bool is_unsafe) {
  std::vector<json_object> out;
  for (const holder& h : all) {
    out.push_back(json_of(h));
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
  if (all.empty()) return 0;
  std::string table;
  for (const std::string& line : table_of(all, is_unsafe)) table += line + '\n';
  return print(table);
}

}  // namespace holdfast::cli
