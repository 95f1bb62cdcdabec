#include "testkit/servers/program.hpp"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <sstream>
#include <stdexcept>
#include <system_error>

#include "testkit/eventually.hpp"

namespace holdfast::testkit {
namespace {

constexpr std::chrono::seconds long_enough{30};

std::string path_of(const std::string& command) {
  if (command.find('/') != std::string::npos) return command;
  const char* all = ::getenv("PATH");
  std::istringstream folders(all ? all : "/usr/bin:/bin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    std::string path = folder;
    path.append("/").append(command);
    if (::access(path.c_str(), X_OK) == 0) return path;
  }
  return {};
}

std::vector<std::string> environment_with(
    const std::vector<std::pair<std::string, std::string>>& added) {
  std::vector<std::string> all;
  for (char** variable = environ; *variable; ++variable) {
    const std::string text = *variable;
    bool replaced = false;
    for (const auto& [name, value] : added) replaced = replaced || text.starts_with(name + '=');
    if (!replaced) all.push_back(text);
  }
  for (const auto& [name, value] : added) all.emplace_back(name).append("=").append(value);
  return all;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

// Between vfork and exec: nothing that allocates or writes to what the parent sees.
[[noreturn]] void become(const char* path, char* const* argv, char* const* environment,
                         const program_terms& terms, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);
  if (!terms.output.empty()) {
    const int file = ::open(terms.output.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    ::dup2(file, STDOUT_FILENO);
    ::dup2(file, STDERR_FILENO);
  }
  if (terms.input_from >= 0) ::dup2(terms.input_from, STDIN_FILENO);
  if (terms.output_to >= 0) ::dup2(terms.output_to, STDOUT_FILENO);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::execve(path, argv, environment);
  ::_exit(127);
}

int exit_status(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

program::program(const program_terms& terms) {
  auto words = terms.argv;
  auto variables = environment_with(terms.environment);
  const auto argv = pointers_to(words);
  const auto environment = pointers_to(variables);
  const auto path = path_of(words.at(0));
  if (path.empty()) throw std::system_error(ENOENT, std::generic_category(), words[0]);
  const pid_t parent = ::getpid();
  // Not fork(): the page tables of a sanitized program take longer to copy than a server to start.
  const pid_t child = ::vfork();
  if (child == 0) become(path.c_str(), argv.data(), environment.data(), terms, parent);
  if (child < 0) throw std::system_error(errno, std::generic_category(), "vfork");
  pid_ = child;
}

program::~program() { kill(); }

bool program::running() { return wait(std::chrono::milliseconds{0}) < 0; }

void program::signal(int number) {
  if (status_ < 0) ::kill(pid_, number);
}

void program::stop() {
  signal(SIGSTOP);
  int status = 0;
  if (status_ >= 0 || ::waitpid(pid_, &status, WUNTRACED) != pid_ || !WIFSTOPPED(status))
    throw std::runtime_error("a program ended that was to be stopped");
}

void program::go_on() { signal(SIGCONT); }

void program::kill() {
  if (status_ >= 0) return;
  signal(SIGKILL);
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {}
  status_ = exit_status(status);
}

int program::wait(std::chrono::milliseconds bound) {
  if (status_ >= 0) return status_;
  eventually(
      [&] {
        int status = 0;
        const pid_t ended = ::waitpid(pid_, &status, WNOHANG);
        if (ended == pid_) status_ = exit_status(status);
        return ended != 0;
      },
      bound);
  return status_;
}

bool program::comes_up(const std::function<bool()>& answers, std::chrono::milliseconds bound) {
  bool is_up = false;
  eventually(
      [&] {
        if (!running()) return true;
        is_up = answers();
        return is_up;
      },
      bound);
  return is_up;
}

int run_program(const program_terms& terms) {
  program p(terms);
  const int status = p.wait(long_enough);
  if (status < 0) throw std::runtime_error(terms.argv[0] + " does not end");
  return status;
}

bool is_installed(const std::string& command) { return !path_of(command).empty(); }

}  // namespace holdfast::testkit
