#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "contender.hpp"

namespace contract {
namespace {

void must(int error, const char* what) {
  if (error != 0) throw std::system_error(error, std::generic_category(), what);
}

class process_contender final : public contender {
 public:
  process_contender() {
    char* const program = std::getenv("HOLDFAST_CONTRACT_PROCESS");
    if (program == nullptr)
      throw std::runtime_error("HOLDFAST_CONTRACT_PROCESS does not name the program to start");
    int in[2], out[2];
    must(::pipe2(in, O_CLOEXEC) == 0 ? 0 : errno, "pipe");
    must(::pipe2(out, O_CLOEXEC) == 0 ? 0 : errno, "pipe");
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, in[0], 0);
    ::posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    char* arguments[] = {program, nullptr};
    const int error = ::posix_spawnp(&id_, program, &actions, nullptr, arguments, environ);
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(in[0]);
    ::close(out[1]);
    commands_ = in[1];
    answers_ = out[0];
    must(error, program);
  }
  ~process_contender() override {
    kill();
    ::close(commands_);
    ::close(answers_);
  }

  void send(const std::string& line) override {
    const auto text = line + '\n';
    const auto written = ::write(commands_, text.data(), text.size());
    must(written == static_cast<ssize_t>(text.size()) ? 0 : errno, "the process takes no command");
  }

  std::string receive(std::chrono::milliseconds bound) override {
    const auto until = std::chrono::steady_clock::now() + bound;
    for (;;) {
      if (const auto end = text_.find('\n'); end != std::string::npos) {
        auto line = text_.substr(0, end);
        text_.erase(0, end + 1);
        return line;
      }
      const auto left =
          std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
      pollfd ready{answers_, POLLIN, 0};
      const auto ms = std::max<std::int64_t>(0, left.count());
      if (::poll(&ready, 1, static_cast<int>(ms)) != 1) return "";
      char bytes[512];
      const auto got = ::read(answers_, bytes, sizeof bytes);
      if (got <= 0) return "";
      text_.append(bytes, static_cast<std::size_t>(got));
    }
  }

  pid_t process() const override { return id_; }
  pid_t thread() const override { return id_; }
  void stop() override {
    int status = 0;
    ::kill(id_, SIGSTOP);
    ::waitpid(id_, &status, WUNTRACED);
  }
  void go_on() override { ::kill(id_, SIGCONT); }
  void kill() override {
    if (std::exchange(dead_, true)) return;
    ::kill(id_, SIGKILL);
    int status = 0;
    ::waitpid(id_, &status, 0);
  }

 private:
  pid_t id_ = 0;
  int commands_ = -1, answers_ = -1;
  bool dead_ = false;
  std::string text_;
};

}  // namespace

std::unique_ptr<contender> make_process_contender() {
  return std::make_unique<process_contender>();
}

}  // namespace contract
