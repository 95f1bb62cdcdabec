// holdfast: run programs under a lock.
#include <fcntl.h>
#include <unistd.h>
#include <holdfast/error.hpp>
#include <holdfast/version.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "cli/exit_code.hpp"
#include "cli/gate.hpp"
#include "cli/guardian.hpp"
#include "cli/help.hpp"
#include "cli/message.hpp"
#include "cli/run.hpp"

namespace holdfast::cli {
namespace {

// A standard descriptor that the caller has closed must not become a lock file or a socket, which
// messages would then be written into. Stays closed for the job.
void occupy_standard_descriptors() {
  for (int fd = 0; fd < 3; ++fd)
    if (::fcntl(fd, F_GETFD) == -1) ::open("/dev/null", O_RDWR | O_CLOEXEC);
}

int print(std::string_view text) {
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() ? 0 : exit_broken;
}

int help(std::string_view command) {
  const auto text = help_text(command);
  if (text.empty())
    throw usage_error("there is no command '" + std::string(command) + "'; see holdfast help");
  return print(text);
}

int dispatch(int argc, char** argv) {
  const std::string_view command = argc > 1 ? argv[1] : "";
  if (command == "run") return run(argc - 1, argv + 1);
  if (command == gate_word) return run_gate(argc - 1, argv + 1);
  if (command == guardian_word) return run_guardian(argc - 1, argv + 1);
  if (command == "version" || command == "--version")
    return print("holdfast " HOLDFAST_VERSION "\n");
  if (command == "help" || command == "--help" || command == "-h")
    return help(argc > 2 ? argv[2] : "");
  if (command.empty()) throw usage_error("a command is missing, as in: holdfast run NAME -- true");
  throw usage_error("there is no command '" + std::string(command) + '\'');
}

int complain(std::string text, bool usage) {
  if (usage && text.find("see holdfast help") == text.npos) text += "; see holdfast help run";
  say(text);
  return usage ? exit_usage : exit_broken;
}

int guarded(int argc, char** argv) {
  try {
    return dispatch(argc, argv);
  } catch (const usage_error& e) {
    return complain(e.what(), true);
  } catch (const lock_error& e) {
    return complain(e.what(), e.code() == outcome::usage);
  } catch (const std::exception& e) {
    return complain(e.what(), false);
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
