#include "tests/cli/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>

#include "tests/cli/hang_report.hpp"

namespace holdfast::cli_test {
namespace {

std::string contents(int fd) {
  std::string text;
  char block[4096];
  ssize_t got = 0;
  while ((got = ::pread(fd, block, sizeof block, static_cast<off_t>(text.size()))) > 0)
    text.append(block, static_cast<std::size_t>(got));
  return text;
}

int open_terminal(unsigned short rows) {
  const int fd = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0 || ::grantpt(fd) != 0 || ::unlockpt(fd) != 0) throw std::runtime_error("no terminal");
  const winsize size{rows, 120, 0, 0};
  ::ioctl(fd, TIOCSWINSZ, &size);
  return fd;
}

[[noreturn]] void become(const std::vector<std::string>& command, const start_options& how) {
  for (const auto& [name, value] : how.environment)
    value.empty() ? ::unsetenv(name.c_str()) : ::setenv(name.c_str(), value.c_str(), 1);
  for (const int number : how.ignored_signals) ::signal(number, SIG_IGN);
  sigset_t blocked;
  ::sigemptyset(&blocked);
  for (const int number : how.blocked_signals) ::sigaddset(&blocked, number);
  ::sigprocmask(SIG_SETMASK, &blocked, nullptr);
  std::vector<char*> argv;
  for (const auto& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  ::execv(argv[0], argv.data());
  ::_exit(99);
}

}  // namespace

process::process(std::vector<std::string> command, const start_options& how) {
  int input[2] = {-1, -1};
  std::string terminal_name;
  if (how.on_terminal) {
    terminal_ = open_terminal(how.rows);
    terminal_name = ::ptsname(terminal_);
  } else {
    if (::pipe2(input, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    input_ = input[1];
    out_ = ::memfd_create("out", MFD_CLOEXEC);
    err_ = ::memfd_create("err", MFD_CLOEXEC);
  }
  pid_ = ::fork();
  if (pid_ < 0) throw std::runtime_error("no process");
  if (pid_ == 0) {
    ::setsid();
    const int on = how.on_terminal ? ::open(terminal_name.c_str(), O_RDWR) : -1;
    if (on >= 0) ::ioctl(on, TIOCSCTTY, 0);
    ::dup2(on >= 0 ? on : input[0], 0);
    ::dup2(on >= 0 ? on : out_, 1);
    ::dup2(on >= 0 ? on : err_, 2);
    if (on > 2) ::close(on);
    become(command, how);
  }
  if (input[0] >= 0) ::close(input[0]);
}

process::~process() {
  if (!waited_) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  for (const int fd : {input_, out_, err_, terminal_})
    if (fd >= 0) ::close(fd);
}

std::string process::out() const {
  if (terminal_ < 0) return contents(out_);
  char block[4096];
  ssize_t got = 0;
  while ((got = ::read(terminal_, block, sizeof block)) > 0)
    shown_.append(block, static_cast<std::size_t>(got));
  return shown_;
}

std::string process::err() const { return terminal_ < 0 ? contents(err_) : out(); }

std::string process::line() {
  std::string found;
  eventually([&] {
    const std::string all = out();
    const auto end = all.find('\n', read_);
    if (end == all.npos) return false;
    found = all.substr(read_, end - read_);
    read_ = end + 1;
    return true;
  });
  if (!found.empty() && found.back() == '\r') found.pop_back();
  return found;
}

void process::type(const std::string& text) {
  const int to = terminal_ >= 0 ? terminal_ : input_;
  if (::write(to, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    throw std::runtime_error("it reads no input");
}

void process::end_input() {
  ::close(input_);
  input_ = -1;
}

void process::signal(int number) const { ::kill(pid_, number); }

ending process::wait() {
  if (waited_) return ending_;
  int status = 0;
  waited_ = eventually([&] {
    if (terminal_ >= 0) out();  // a full terminal would stop it
    return ::waitpid(pid_, &status, WNOHANG) == pid_;
  });
  if (!waited_) std::cerr << "it does not end: " << hang_report(pid_) << "it wrote: " << err();
  if (waited_ && WIFEXITED(status)) ending_.code = WEXITSTATUS(status);
  if (waited_ && WIFSIGNALED(status)) ending_.signal = WTERMSIG(status);
  return ending_;
}

pid_t process::foreground_group() const { return ::tcgetpgrp(terminal_); }

namespace {

std::vector<std::string> program_of(const char* variable, std::vector<std::string> arguments) {
  const char* const program = ::getenv(variable);
  if (!program)
    throw std::runtime_error("set " + std::string(variable) + " to the program under test");
  arguments.insert(arguments.begin(), program);
  return arguments;
}

}  // namespace

std::vector<std::string> holdfast(std::vector<std::string> arguments) {
  return program_of("HOLDFAST_BIN", std::move(arguments));
}

std::vector<std::string> holdfast_over_memory(std::vector<std::string> arguments) {
  return program_of("HOLDFAST_BIN_OVER_MEMORY", std::move(arguments));
}

char state_of(pid_t pid) {
  const std::string text = file_text("/proc/" + std::to_string(pid) + "/stat");
  const auto name_end = text.rfind(") ");
  return name_end == text.npos ? '\0' : text[name_end + 2];
}

bool has_ended(pid_t pid) {
  const char state = state_of(pid);
  return state == '\0' || state == 'Z' || state == 'X';
}

int threads_of(pid_t pid) {
  const std::string text = file_text("/proc/" + std::to_string(pid) + "/status");
  const auto at = text.find("Threads:");
  return at == text.npos ? 0 : std::atoi(text.c_str() + at + 8);
}

std::string file_text(const std::string& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

void adopt_orphans() { ::prctl(PR_SET_CHILD_SUBREAPER, 1); }

void end_orphans() {
  const std::string self = std::to_string(::getpid());
  for (;;) {
    std::istringstream children(file_text("/proc/self/task/" + self + "/children"));
    pid_t child = 0;
    if (!(children >> child)) return;
    do {
      ::kill(child, SIGKILL);
      ::waitpid(child, nullptr, 0);
    } while (children >> child);
  }
}

}  // namespace holdfast::cli_test
