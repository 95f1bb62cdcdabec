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

void append_line(std::string& to, std::string_view label, const std::string& value) {
  to.append("  ").append(label).append(9 - label.size(), ' ').append(printable(value)) += '\n';
}

std::string mode_text(const holder& h) {
  if (h.mode == lock_mode::exclusive) return "exclusive";
  if (h.mode == lock_mode::shared) return "shared";
  return std::to_string(h.permits) + " of " + std::to_string(h.total_permits) + " permits";
}

std::string page_of(const std::string& name, const std::vector<holder>& all) {
  std::string out = printable(name);
  if (all.empty()) return out + ": free\n";
  out += ": held\n";
  for (const holder& h : all) {
    if (&h != &all.front()) out += '\n';
    std::string by = h.pid != 0 ? "pid " + std::to_string(h.pid) : std::string("not known");
    if (!h.host.empty()) by += " on host " + h.host;
    if (is_dead(h) == true) by += ", which is dead: " + why_still_held(h);
    append_line(out, "by", by);
    append_line(out, "mode", mode_text(h));
    if (knows_since_when(h)) append_line(out, "for", spoken(h.held_for));
    if (h.expires_in != std::chrono::milliseconds::max())
      append_line(out, "expires", "in " + spoken(h.expires_in) + ", unless it is renewed");
    if (h.waiting >= 0) append_line(out, "waiting", std::to_string(h.waiting));
    if (h.token != 0) append_line(out, "token", std::to_string(h.token));
    if (!h.note.empty()) append_line(out, "note", h.note);
    append_line(out, "owner", shown_id(h.owner));
  }
  return out;
}

std::string object_of(const std::string& name, const std::vector<holder>& all) {
  std::vector<json_object> holders;
  for (const holder& h : all) holders.push_back(json_of(h));
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
