// holdfast break
#include <holdfast/error.hpp>

#include <algorithm>

#include "cli/commands.hpp"
#include "cli/exit_code.hpp"
#include "cli/help.hpp"
#include "cli/holders.hpp"
#include "cli/json.hpp"
#include "cli/look_arguments.hpp"
#include "cli/message.hpp"
#include "cli/place.hpp"

namespace holdfast::cli {
namespace {

int tell_broken(const look_arguments& arguments, bool broken) {
  if (arguments.json) {
    const json_object out{
        {{"name", arguments.name}, {"owner", *arguments.owner}, {"broken", broken}}};
    if (const int failed = print(json_text(out) + '\n')) return failed;
  } else if (broken) {
    say(arguments.name + " was taken away from " + *arguments.owner);
  } else {
    say(arguments.name +
        " is free or has another holder, so nothing was done; see holdfast holders");
  }
  return broken ? 0 : exit_busy;
}

// Where a lock cannot be taken away, its holder can be ended: the answer names the process.
int tell_whom_to_end(const look_arguments& arguments, const holder& h, const lock_error& why) {
  if (arguments.json) {
    const json_object out{{{"name", arguments.name},
                           {"owner", *arguments.owner},
                           {"broken", false},
                           {"host", h.host},
                           {"pid", std::int64_t{h.pid}}}};
    if (const int failed = print(json_text(out) + '\n')) return failed;
  }
  say(text_of(why));
  return exit_usage;
}

}  // namespace

int break_lock(int argc, char** argv) {
  const auto arguments = parse_look_arguments(look::break_lock, argc, argv);
  if (arguments.help) return print(help_text("break"));
  const client where = client::open(place_of(arguments.url).text);
  const std::string owner = id_of(*arguments.owner);
  try {
    return tell_broken(arguments, where.break_lock(arguments.name, owner));
  } catch (const lock_error& why) {
    if (why.code() != errc::unsupported) throw;
    const auto all = where.holders(arguments.name);
    const auto found = std::ranges::find(all, owner, &holder::owner);
    if (found == all.end()) return tell_broken(arguments, false);
    return tell_whom_to_end(arguments, *found, why);
  }
}

}  // namespace holdfast::cli
