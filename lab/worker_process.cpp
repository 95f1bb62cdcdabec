#include "lab/worker_process.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>
#include <system_error>

#include "lab/story.hpp"

namespace holdfast::lab {

void lines::send(const std::string& text) const {
  const std::string whole = text + '\n';
  if (::write(out, whole.data(), whole.size()) != static_cast<ssize_t>(whole.size()))
    throw story_error("a process of the story has ended");
}

std::string lines::receive() const {
  std::string text;
  char c = 0;
  while (::read(in, &c, 1) == 1 && c != '\n') text += c;
  return text;
}

worker_process::worker_process(const std::function<void(const lines&)>& body) {
  std::array<int, 2> to{}, from{};
  if (::pipe2(to.data(), O_CLOEXEC) != 0 || ::pipe2(from.data(), O_CLOEXEC) != 0)
    throw std::system_error(errno, std::generic_category(), "pipe");
  std::fflush(nullptr);  // else both processes would print what is buffered
  pid_ = ::fork();
  if (pid_ < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (pid_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::close(to[1]);
    ::close(from[0]);
    lines mine;
    mine.in = to[0];
    mine.out = from[1];
    try {
      body(mine);
    } catch (const std::exception& e) {
      std::fprintf(stderr, "a process of the story failed: %s\n", e.what());
    }
    ::_exit(0);
  }
  ::close(to[0]);
  ::close(from[1]);
  lines_.in = from[0];
  lines_.out = to[1];
}

worker_process::~worker_process() {
  kill();
  ::close(lines_.in);
  ::close(lines_.out);
}

std::string worker_process::ask(const std::string& text) const {
  send(text);
  return receive();
}

void worker_process::stop() {
  int status = 0;
  ::kill(pid_, SIGSTOP);
  require(::waitpid(pid_, &status, WUNTRACED) == pid_ && WIFSTOPPED(status),
          "the process is stopped");
}

void worker_process::go_on() { ::kill(pid_, SIGCONT); }

void worker_process::kill() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

}  // namespace holdfast::lab
