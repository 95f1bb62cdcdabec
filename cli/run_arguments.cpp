#include "cli/run_arguments.hpp"

#include <holdfast/semaphore.hpp>

#include <string_view>

#include "cli/option_reader.hpp"
#include "cli/secret_argument.hpp"

namespace holdfast::cli {
namespace {

constexpr const char* usage = "holdfast run [OPTION...] NAME... -- COMMAND...";

constexpr std::uint32_t permits_max = semaphore::permits_max;

enum : int { opt_ttl = 256, opt_no_renew, opt_note, opt_url, opt_grace, opt_close, opt_take };

const option long_options[] = {
    {"nonblock", no_argument, nullptr, 'n'},
    {"wait", required_argument, nullptr, 'w'},
    {"conflict-exit-code", required_argument, nullptr, 'E'},
    {"shared", no_argument, nullptr, 's'},
    {"permits", required_argument, nullptr, 'c'},
    {"take", required_argument, nullptr, opt_take},
    {"ttl", required_argument, nullptr, opt_ttl},
    {"no-renew", no_argument, nullptr, opt_no_renew},
    {"note", required_argument, nullptr, opt_note},
    {"url", required_argument, nullptr, opt_url},
    {"grace", required_argument, nullptr, opt_grace},
    {"close", no_argument, nullptr, opt_close},
    {"help", no_argument, nullptr, 'h'},
    {nullptr, 0, nullptr, 0},
};

void add_name(run_arguments& to, std::string name) {
  if (name.empty()) throw usage_error("NAME is empty; give the lock a name of 1 to 512 bytes");
  to.names.push_back(std::move(name));
}

void set_option(run_arguments& to, int which, char* value) {
  switch (which) {
    case 'n': to.nonblock = true; break;
    case 'w': set_once(to.wait, duration_of("-w", value), "-w"); break;
    case 'E': set_once(to.conflict_exit_code, number_of("-E", value, 0, 255), "-E"); break;
    case 's': to.shared = true; break;
    case 'c': set_once(to.permits, number_of("-c", value, 1, permits_max), "-c"); break;
    case opt_take: set_once(to.taken, number_of("--take", value, 1, permits_max), "--take"); break;
    case opt_ttl: set_once(to.ttl, duration_of("--ttl", value), "--ttl"); break;
    case opt_grace: set_once(to.grace, duration_of("--grace", value), "--grace"); break;
    case opt_note: set_once(to.note, std::string(value), "--note"); break;
    case opt_url: set_once(to.url, take_secret_argument(value), "--url"); break;
    case opt_no_renew: to.no_renew = true; break;
    case opt_close: to.close = true; break;
    default: to.help = true;
  }
}

void find_command(run_arguments& to, const option_reader& words) {
  const std::string as = std::string(": ") + usage;
  if (to.names.empty()) throw usage_error("the NAME of the lock is missing" + as);
  if (!words.saw_separator()) throw usage_error("-- is missing before the command" + as);
  if (!*words.rest()) throw usage_error("the command after -- is missing" + as);
  to.command = words.rest();
}

// `run x ls -l`: it is not the option that is wrong.
int next_word(option_reader& words, const run_arguments& so_far) try {
  return words.next();
} catch (const usage_error&) {
  char** later = words.rest();
  while (*later && std::string_view(*later) != "--") ++later;
  if (*later || so_far.names.size() < 2) throw;
  throw usage_error(std::string("-- is missing before the command: ") + usage);
}

void refuse_contradictions(const run_arguments& all) {
  if (all.nonblock && all.wait) throw usage_error("-n does not wait and -w does; keep one of them");
  if (all.shared && all.permits)
    throw usage_error("-s is for a lock and -c makes it a semaphore; keep one of them");
  if (all.taken && !all.permits)
    throw usage_error("--take is of a semaphore; say with -c how many permits there are");
  if (all.taken && *all.taken > *all.permits)
    throw usage_error("--take is more than the -c permits that there are; lower it");
  if (all.names.size() < 2) return;
  if (all.shared || all.permits)
    throw usage_error("-s and -c take one NAME; run one holdfast under the other for more");
  // Its password would become part of a lock's name, which everybody may see.
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
  option_reader words(argc, argv, "nsw:E:c:h", long_options);
  for (int found = next_word(words, out); found != option_reader::end;
       found = next_word(words, out)) {
    if (found == option_reader::plain)
      add_name(out, words.value());
    else
      set_option(out, found, words.value());
    if (out.help) return out;
  }
  find_command(out, words);
  refuse_contradictions(out);
  return out;
}

}  // namespace holdfast::cli
