#include "cli/holder_text.hpp"

#include <holdfast/error.hpp>

#include "cli/duration_text.hpp"

namespace holdfast::cli {
namespace {

std::string describe(const holder& who) {
  std::string text = who.name + " is held by ";
  text += who.pid != 0 ? "pid " + std::to_string(who.pid) : std::string("somebody else");
  if (!who.host.empty()) text += " on host " + who.host;
  text += " for " + spoken(who.held);
  if (!who.note.empty()) text += " (note: " + who.note + ')';
  return text;
}

}  // namespace

std::string holder_of(const client& c, const std::string& name) {
  try {
    for (const auto& who : c.inspect(name))
      if (who.name == name) return describe(who);
    return name + " is held by somebody else";
  } catch (const lock_error& e) {
    return name + " is held by somebody else (who, is not known: " + e.code().message() + ')';
  }
}

}  // namespace holdfast::cli
