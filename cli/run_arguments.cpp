#include "cli/run_arguments.hpp"

#include <string_view>

#include "cli/option_reader.hpp"
#include "cli/secret_argument.hpp"

namespace holdfast::cli {
namespace {

constexpr const char* usage = "holdfast run [OPTION...] NAME -- COMMAND...";

enum : int { opt_ttl = 256, opt_no_renew, opt_note, opt_url, opt_grace, opt_close };

const option long_options[] = {
    {"nonblock", no_argument, nullptr, 'n'},
    {"wait", required_argument, nullptr, 'w'},
    {"conflict-exit-code", required_argument, nullptr, 'E'},
    {"ttl", required_argument, nullptr, opt_ttl},
    {"no-renew", no_argument, nullptr, opt_no_renew},
    {"note", required_argument, nullptr, opt_note},
    {"url", required_argument, nullptr, opt_url},
    {"grace", required_argument, nullptr, opt_grace},
    {"close", no_argument, nullptr, opt_close},
    {"help", no_argument, nullptr, 'h'},
    {nullptr, 0, nullptr, 0},
};

void set_name(run_arguments& to, const option_reader& words) {
  if (!to.name.empty()) {
    char** later = words.rest();
    while (*later && std::string_view(*later) != "--") ++later;
    throw usage_error(std::string(*later ? "there is more than one NAME before the --: "
                                         : "-- is missing before the command: ") +
                      usage);
  }
  to.name = words.value();
  if (to.name.empty()) throw usage_error("NAME is empty; give the lock a name of 1 to 512 bytes");
}

void set_option(run_arguments& to, int which, char* value) {
  switch (which) {
    case 'n': to.nonblock = true; break;
    case 'w': set_once(to.wait, duration_of("-w", value), "-w"); break;
    case 'E': set_once(to.conflict_exit_code, number_of("-E", value, 0, 255), "-E"); break;
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
  if (to.name.empty()) throw usage_error("the NAME of the lock is missing" + as);
  if (!words.saw_separator()) throw usage_error("-- is missing before the command" + as);
  if (!*words.rest()) throw usage_error("the command after -- is missing" + as);
  to.command = words.rest();
}

}  // namespace

run_arguments parse_run_arguments(int argc, char** argv) {
  run_arguments out;
  option_reader words(argc, argv, "nw:E:h", long_options);
  for (int found = words.next(); found != option_reader::end; found = words.next()) {
    if (found == option_reader::plain)
      set_name(out, words);
    else
      set_option(out, found, words.value());
    if (out.help) return out;
  }
  find_command(out, words);
  if (out.nonblock && out.wait) throw usage_error("-n does not wait and -w does; keep one of them");
  return out;
}

}  // namespace holdfast::cli
