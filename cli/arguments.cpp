#include "cli/arguments.hpp"

#include <getopt.h>

#include <charconv>
#include <string_view>

#include "cli/duration_text.hpp"
#include "cli/message.hpp"
#include "cli/secret_argument.hpp"

namespace holdfast::cli {
namespace {

constexpr const char* usage = "holdfast run [OPTION...] NAME -- COMMAND...";

enum : int { opt_ttl = 256, opt_no_renew, opt_note, opt_url, opt_grace, opt_close, opt_help };

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
    {"help", no_argument, nullptr, opt_help},
    {nullptr, 0, nullptr, 0},
};

template <class T>
void set_once(std::optional<T>& to, T value, const char* what) {
  if (to && *to != value)
    throw usage_error(std::string(what) + " is given twice with different values; keep one");
  to = std::move(value);
}

std::chrono::nanoseconds duration_of(const char* what, std::string_view text) {
  if (const auto d = parse_duration(text)) return *d;
  throw usage_error(std::string(what) + " '" + std::string(text) +
                    "' is no duration; give seconds as 30 or 1.5, or a unit as 500ms, 2m, 1h");
}

int exit_code_of(std::string_view text) {
  int code = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), code);
  if (error != std::errc{} || end != text.data() + text.size() || code < 0 || code > 255)
    throw usage_error("-E '" + std::string(text) + "' is no exit code; give 0 to 255");
  return code;
}

void set_name(run_arguments& to, char** later_words) {
  if (!to.name.empty()) {
    while (*later_words && std::string_view(*later_words) != "--") ++later_words;
    throw usage_error(std::string(*later_words ? "there is more than one NAME before the --: "
                                               : "-- is missing before the command: ") +
                      usage);
  }
  if (*optarg == '\0') throw usage_error("NAME is empty; give the lock a name of 1 to 512 bytes");
  to.name = optarg;
}

// What getopt stumbled over, without a value: that may be a mistyped --url with its password.
std::string option_in(std::string_view word) {
  if (word.starts_with("--")) return std::string(word.substr(0, word.find('=')));
  return '-' + std::string(1, static_cast<char>(optopt));
}

[[noreturn]] void refuse_option(int verdict, std::string_view word) {
  const std::string option = option_in(word);
  if (verdict == ':') throw usage_error("option " + option + " needs a value");
  if (word.starts_with("--") && optopt != 0)
    throw usage_error("option " + option + " takes no value");
  throw usage_error("there is no option " + option + ", or it is cut too short");
}

void set_option(run_arguments& to, int which) {
  switch (which) {
    case 'n': to.nonblock = true; break;
    case 'w': set_once(to.wait, duration_of("-w", optarg), "-w"); break;
    case 'E': set_once(to.conflict_exit_code, exit_code_of(optarg), "-E"); break;
    case opt_ttl: set_once(to.ttl, duration_of("--ttl", optarg), "--ttl"); break;
    case opt_grace: set_once(to.grace, duration_of("--grace", optarg), "--grace"); break;
    case opt_note: set_once(to.note, std::string(optarg), "--note"); break;
    case opt_url: set_once(to.url, take_secret_argument(optarg), "--url"); break;
    case opt_no_renew: to.no_renew = true; break;
    case opt_close: to.close = true; break;
    default: to.help = true;
  }
}

void find_command(run_arguments& to, int argc, char** argv) {
  const bool separated = std::string_view(argv[optind - 1]) == "--";
  if (to.name.empty()) throw usage_error(std::string("the NAME of the lock is missing: ") + usage);
  if (!separated) throw usage_error(std::string("-- is missing before the command: ") + usage);
  if (optind == argc) throw usage_error(std::string("the command after -- is missing: ") + usage);
  to.command = argv + optind;
}

}  // namespace

run_arguments parse_run_arguments(int argc, char** argv) {
  run_arguments out;
  opterr = 0;
  for (;;) {
    const int word = optind;
    // '-': names and options come in the order they stand in, so that the first -- is seen.
    // NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread yet
    const int found = ::getopt_long(argc, argv, "-:nw:E:h", long_options, nullptr);
    if (found == -1) break;
    if (found == 1) {
      set_name(out, argv + optind);
    } else if (found == '?' || found == ':') {
      refuse_option(found, argv[word]);
    } else {
      set_option(out, found);
    }
    if (out.help) return out;
  }
  find_command(out, argc, argv);
  if (out.nonblock && out.wait) throw usage_error("-n does not wait and -w does; keep one of them");
  return out;
}

}  // namespace holdfast::cli
