#include "cli/gate.hpp"

#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string_view>
#include <system_error>

#include "cli/deadline_page.hpp"
#include "cli/exit_code.hpp"
#include "cli/message.hpp"

namespace holdfast::cli {
namespace {

// As execvp(), but a file that is no program is not given to a shell.
int execute(char** command) {
  const std::string_view file(command[0]);
  if (file.find('/') != file.npos) {
    ::execv(command[0], command);
    return errno;
  }
  const char* const given = std::getenv("PATH");  // NOLINT(concurrency-mt-unsafe): one thread
  std::string_view path = given ? given : "/bin:/usr/bin";
  int error = ENOENT;
  for (bool more = !file.empty(); more;) {
    const auto colon = path.find(':');
    std::string candidate(path.substr(0, colon));
    if (!candidate.empty()) candidate += '/';
    ::execv(candidate.append(file).c_str(), command);
    if (errno != ENOENT && errno != ENOTDIR) error = errno;
    if (errno != ENOENT && errno != ENOTDIR && errno != EACCES) break;
    more = colon != path.npos;
    if (more) path.remove_prefix(colon + 1);
  }
  return error;
}

bool tell_guardian(deadline_page& page) {
  auto expected = deadline_page::not_started;
  return page.group.compare_exchange_strong(expected, ::getpid()) &&
         lease_clock::now() < page.deadline() - page.margin();
}

}  // namespace

std::vector<std::string> gate_words(int page_fd, bool ignore_children) {
  return {"holdfast", gate_word, std::to_string(page_fd), ignore_children ? "1" : "0"};
}

int run_gate(int argc, char** argv) {
  if (argc < 4) return exit_usage;
  if (const int fd = std::atoi(argv[1]); fd >= 0) {
    const shared_page page(fd);
    if (!page || !tell_guardian(*page)) {
      say("the lock was lost before the command could be started; nothing was run");
      return exit_lost;
    }
  }
  if (argv[2][0] == '1') ::signal(SIGCHLD, SIG_IGN);
  return cannot_run(argv[3], execute(argv + 3));
}

int cannot_run(const char* command, int error) {
  const bool missing = error == ENOENT;
  const bool no_program = error == EACCES || error == ENOEXEC || error == EISDIR || error == EPERM;
  std::string text =
      "cannot run '" + std::string(command) + "': " + std::generic_category().message(error);
  if (missing) text += "; check its name and PATH, and the interpreter in its first line";
  if (no_program) text += "; check that it is a program and that you may execute it";
  say(text);
  return missing ? exit_not_found : exit_cannot_run;
}

}  // namespace holdfast::cli
