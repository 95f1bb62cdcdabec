#include "cli/run_arguments.hpp"

#include <holdfast/semaphore.hpp>

#include <algorithm>

#include "cli/command_line.hpp"
#include "cli/message.hpp"
#include "cli/secret_argument.hpp"

namespace holdfast::cli {
namespace {

constexpr const char* usage = "holdfast run [OPTION...] NAME... -- COMMAND...";

constexpr std::uint32_t permits_max = semaphore::permits_max;

void declare(command_line& line, run_arguments& to) {
  line.flag("-n,--nonblock", to.nonblock);
  line.duration("-w,--wait", to.wait);
  line.number("-E,--conflict-exit-code", to.conflict_exit_code, 0, 255);
  line.flag("-s,--shared", to.shared);
  line.number("-p,--permits", to.permits, 1, permits_max);
  line.number("--take", to.taken, 1, permits_max);
  line.duration("--ttl", to.ttl);
  line.flag("--no-renew", to.no_renew);
  line.text("--note", to.note);
  line.text("--url", to.url);
  line.duration("--grace", to.grace);
  line.flag("-o,--close", to.close);
  line.flag("-q,--quiet", to.quiet);
  line.flag("--verbose", to.verbose);
  // The older spelling of -p, which a user of flock(1) may mistake for the option of flock.
  line.number("-c", to.permits, 1, permits_max, "; for flock's -c COMMAND write: -- sh -c COMMAND");
  // Other spellings of flock(1).
  line.flag("-x,--exclusive", to.exclusive);
  line.flag("-e", to.exclusive);
  line.flag("--nb", to.nonblock);
  line.duration("--timeout", to.wait);
}

void parse(command_line& line, const separated_words& words) try {
  line.parse(words.before);
} catch (const usage_error&) {
  // `run x ls -l`: it is not the option that is wrong.
  if (words.after || line.plain_words().size() < 2) throw;
  throw usage_error(std::string("-- is missing before the command: ") + usage);
}

// `run -- -x -- COMMAND`: the NAMEs that start with '-' stand between two separators.
void find_names(run_arguments& to, const command_line& line, separated_words& words) {
  to.names = line.plain_words();
  if (!to.names.empty() || !words.after) return;
  char** end = words.after;
  while (*end && std::string_view(*end) != "--") ++end;
  if (!*end) return;
  to.names.assign(words.after, end);
  words.after = end + 1;
}

void find_command(run_arguments& to, const separated_words& words) {
  const std::string as = std::string(": ") + usage;
  if (to.names.empty()) throw usage_error("the NAME of the lock is missing" + as);
  if (!words.after) throw usage_error("-- is missing before the command" + as);
  if (!*words.after) throw usage_error("the command after -- is missing" + as);
  to.command = words.after;
}

void refuse_contradictions(const run_arguments& all) {
  if (all.nonblock && all.wait) throw usage_error("-n does not wait and -w does; keep one of them");
  if (all.exclusive && (all.shared || all.permits))
    throw usage_error("-x is exclusive, and -s and -p are not; keep one of them");
  if (all.shared && all.permits)
    throw usage_error("-s is for a lock and -p makes it a semaphore; keep one of them");
  if (all.taken && !all.permits)
    throw usage_error("--take is for a semaphore; give its number of permits with -p");
  if (all.taken && *all.taken > *all.permits)
    throw usage_error("--take is more than the -p permits of the semaphore; lower it");
  for (const std::string& name : all.names) refuse_url(name);
  if (all.names.size() < 2) return;
  if (all.shared || all.permits)
    throw usage_error("-s and -p take one NAME; for several, use one run inside another");
  for (const std::string& name : all.names)
    if (name.find("://") != name.npos)
      throw usage_error("one of the NAMEs is a URL; write --url before it");
}

}  // namespace

std::string shown_names(const run_arguments& arguments) {
  std::string out;
  for (const std::string& name : arguments.names) out.append(out.empty() ? "" : ", ").append(name);
  return out;
}

run_arguments parse_run_arguments(int argc, char** argv) {
  run_arguments out;
  separated_words words = take_words(argc, argv);
  command_line line;
  declare(line, out);
  parse(line, words);
  out.help = line.asks_for_help();
  if (out.help) return out;
  find_names(out, line, words);
  if (std::ranges::find(out.names, "") != out.names.end())
    throw usage_error("NAME is empty; give the lock a name of 1 to 512 bytes");
  find_command(out, words);
  refuse_contradictions(out);
  return out;
}

}  // namespace holdfast::cli
