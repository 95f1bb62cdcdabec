// holdfast: run programs under a lock.
#include <fcntl.h>
#include <holdfast/holdfast.h>
#include <unistd.h>
#include <holdfast/error.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>

#include "cli/commands.hpp"
#include "cli/drill_run.hpp"
#include "cli/exit_code.hpp"
#include "cli/gate.hpp"
#include "cli/guardian.hpp"
#include "cli/help.hpp"
#include "cli/message.hpp"
#include "cli/suggestion.hpp"

namespace holdfast::cli {
namespace {

// A standard descriptor that the caller has closed must not become a lock file or a socket, which
// messages would then be written into. Stays closed for the job.
void occupy_standard_descriptors() {
  for (int fd = 0; fd < 3; ++fd)
    if (::fcntl(fd, F_GETFD) == -1) ::open("/dev/null", O_RDWR | O_CLOEXEC);
}

struct command {
  std::string_view word;
  int (*start)(int argc, char** argv);
  std::string_view present = {};  // of an older spelling, which no help text names
};
constexpr command commands[] = {
    {"run", run},
    {"list", list},
    {"top", top},
    {"holders", show_holders},
    {"wait", wait_until_free},
    {"break", break_lock},
    {"prune", prune},
    {"diagnose", diagnose},
    {"explain", explain},
    {"schema", schema},
    {"drill", drill},
    {"ls", list, "list"},
    {"show", show_holders, "holders"},
    {"gc", prune, "prune"},
    {"doctor", diagnose, "diagnose"},
    {gate_word, run_gate},
    {guardian_word, run_guardian},
    {drill_worker_word, run_drill_worker},
};

int help(std::string_view command) {
  const auto text = help_text(command);
  if (text.empty())
    throw usage_error("there is no command '" + std::string(command) + "'; see holdfast help");
  return print(text);
}

std::string meant_command(std::string_view word) {
  std::vector<std::string_view> words;
  for (const command& c : commands)
    if (!c.word.starts_with(':')) words.push_back(c.word);
  const std::string_view nearest = nearest_of(words, word);
  const command* const c = std::ranges::find(commands, nearest, &command::word);
  return did_you_mean(c != std::end(commands) && !c->present.empty() ? c->present : nearest);
}

int dispatch(int argc, char** argv) {
  const std::string_view word = argc > 1 ? argv[1] : "";
  for (const command& c : commands)
    if (word == c.word) return c.start(argc - 1, argv + 1);
  if (word == "version" || word == "--version" || word == "-V")
    return print("holdfast " + std::string(holdfast_version()) + '\n');
  if (word == "help" || word == "--help" || word == "-h") return help(argc > 2 ? argv[2] : "");
  if (argc < 2) {
    print_error(help_text(""));
    return exit_usage;
  }
  throw usage_error("there is no command '" + std::string(word) + '\'' + meant_command(word));
}

int complain_of_usage(std::string text, std::string_view word) {
  if (text.find("see holdfast help") == text.npos) {
    text += "; see holdfast help";
    if (!help_text(word).empty()) text.append(1, ' ').append(word);
  }
  say(text);
  return exit_usage;
}

int complain(std::string_view text) {
  say(text);
  return exit_broken;
}

int guarded(int argc, char** argv) {
  const std::string_view word = argc > 1 ? argv[1] : "";
  try {
    return dispatch(argc, argv);
  } catch (const usage_error& e) {
    return complain_of_usage(e.what(), word);
  } catch (const lock_error& e) {
    say(text_of(e));
    return e.code() == outcome::usage ? exit_usage : exit_broken;
  } catch (const std::system_error& e) {
    const bool is_bare = e.what() == e.code().message();  // of std::thread
    return complain(is_bare ? std::string("cannot start a thread: ") + e.what() +
                                  "; permit clone in the sandbox (seccomp), or raise the limit of "
                                  "processes (ulimit -u)"
                            : e.what());
  } catch (const std::exception& e) {
    return complain(e.what());
  }
}

}  // namespace
}  // namespace holdfast::cli

int main(int argc, char** argv) {
  holdfast::cli::occupy_standard_descriptors();
  holdfast::cli::take_over_log();
  const int code = holdfast::cli::guarded(argc, argv);
  std::fflush(stdout);
  std::_Exit(code);  // without destructors: see run()
}
