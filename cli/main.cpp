// holdfast: run programs under a lock.
#include <fcntl.h>
#include <unistd.h>
#include <holdfast/error.hpp>
#include <holdfast/version.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "cli/commands.hpp"
#include "cli/exit_code.hpp"
#include "cli/gate.hpp"
#include "cli/guardian.hpp"
#include "cli/help.hpp"
#include "cli/message.hpp"

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
};
constexpr command commands[] = {
    {"run", run},
    {"ls", list},
    {"show", show},
    {"wait", wait_until_free},
    {"break", break_lock},
    {"gc", remove_unused},
    {"doctor", examine},
    {gate_word, run_gate},
    {guardian_word, run_guardian},
};

int help(std::string_view command) {
  const auto text = help_text(command);
  if (text.empty())
    throw usage_error("there is no command '" + std::string(command) + "'; see holdfast help");
  return print(text);
}

int dispatch(int argc, char** argv) {
  const std::string_view word = argc > 1 ? argv[1] : "";
  for (const command& c : commands)
    if (word == c.word) return c.start(argc - 1, argv + 1);
  if (word == "version" || word == "--version") return print("holdfast " HOLDFAST_VERSION "\n");
  if (word == "help" || word == "--help" || word == "-h") return help(argc > 2 ? argv[2] : "");
  if (argc < 2) {
    print_error(help_text(""));
    return exit_usage;
  }
  throw usage_error("there is no command '" + std::string(word) + '\'');
}

int complain(std::string text, bool usage, std::string_view word) {
  if (usage && text.find("see holdfast help") == text.npos) {
    text += "; see holdfast help";
    if (!help_text(word).empty()) text.append(1, ' ').append(word);
  }
  say(text);
  return usage ? exit_usage : exit_broken;
}

int guarded(int argc, char** argv) {
  const std::string_view word = argc > 1 ? argv[1] : "";
  try {
    return dispatch(argc, argv);
  } catch (const usage_error& e) {
    return complain(e.what(), true, word);
  } catch (const lock_error& e) {
    return complain(e.what(), e.code() == outcome::usage, word);
  } catch (const std::exception& e) {
    return complain(e.what(), false, word);
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
