// holdfast holders
#include "cli/commands.hpp"
#include "cli/dead_holder.hpp"
#include "cli/duration_text.hpp"
#include "cli/exit_code.hpp"
#include "cli/help.hpp"
#include "cli/holders.hpp"
#include "cli/json.hpp"
#include "cli/look_arguments.hpp"
#include "cli/message.hpp"
#include "cli/place.hpp"

namespace holdfast::cli {
namespace {

void append_line(std::string& to, std::string_view what, const std::string& value) {
  to.append("  ").append(what).append(9 - what.size(), ' ').append(printable(value)) += '\n';
}

std::string mode_text(const holder& who) {
  if (who.mode == lock_mode::exclusive) return "exclusive";
  if (who.mode == lock_mode::shared) return "shared";
  return std::to_string(who.permits) + " of " + std::to_string(who.total_permits) + " permits";
}

std::string page_of(const std::string& name, const std::vector<holder>& all) {
  std::string out = printable(name);
  if (all.empty()) return out + ": free\n";
  out += ": held\n";
  for (const holder& who : all) {
    if (&who != &all.front()) out += '\n';
    std::string by = who.pid != 0 ? "pid " + std::to_string(who.pid) : std::string("not known");
    if (!who.host.empty()) by += " on host " + who.host;
    if (is_dead(who) == true) by += ", which is dead: " + why_still_held(who);
    append_line(out, "by", by);
    append_line(out, "mode", mode_text(who));
    if (knows_since_when(who)) append_line(out, "for", spoken(who.held_for));
    if (who.expires_in != std::chrono::milliseconds::max())
      append_line(out, "expires", "in " + spoken(who.expires_in) + ", unless it is renewed");
    if (who.waiting >= 0) append_line(out, "waiting", std::to_string(who.waiting));
    if (who.token != 0) append_line(out, "token", std::to_string(who.token));
    if (!who.note.empty()) append_line(out, "note", who.note);
    append_line(out, "owner", shown_id(who.owner));
  }
  return out;
}

std::string object_of(const std::string& name, const std::vector<holder>& all) {
  std::vector<json_object> holders;
  for (const holder& who : all) holders.push_back(json_of(who));
  const json_object out{{{"name", name}, {"held", !all.empty()}, {"holders", std::move(holders)}}};
  return json_text(out) + '\n';
}

}  // namespace

int show_holders(int argc, char** argv) {
  const auto arguments = parse_look_arguments(look::holders, argc, argv);
  if (arguments.help) return print(help_text("holders"));
  if (arguments.quiet) leave_out_notices();
  const place at = place_of(arguments.url);
  refuse_memory(at);
  const client where = client::open(at.text);
  const auto all = where.holders(arguments.name);
  if (arguments.quiet) return all.empty() ? exit_free : 0;
  const auto text = arguments.json ? object_of(arguments.name, all) : page_of(arguments.name, all);
  if (const int failed = print(text)) return failed;
  return all.empty() ? exit_free : 0;
}

}  // namespace holdfast::cli
