// A program that drives a lock library of another language, by commands of one line each: the other
// contender of a test or a benchmark. java/CommandLoop.java describes the lines.
#pragma once
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "testkit/servers/program.hpp"
#include "testkit/servers/scratch_folder.hpp"

namespace holdfast::testkit {

struct peer_answer {
  bool ok = false;
  std::string text;  // the result, or the exception's name and text
  std::chrono::steady_clock::time_point
      at{};  // when the command ended, by its clock, which is ours
};

// Killed with the object, or with the thread that made it. One thread at a time; calls may go to
// others.
class line_peer {
 public:
  explicit line_peer(const std::vector<std::string>& argv);  // throws std::system_error
  ~line_peer();
  line_peer(const line_peer&) = delete;
  line_peer& operator=(const line_peer&) = delete;

  // A command under way.
  class call {
   public:
    bool pending() const;
    peer_answer wait() const;  // not ok when none comes within a minute, or the program has ended

   private:
    friend line_peer;
    std::shared_ptr<struct peer_answers> answers_;
    int id_ = 0;
  };
  call send(const std::string& command);  // "CLIENT THREAD VERB WORD..."
  peer_answer ask(const std::string& command) { return send(command).wait(); }
  std::string log() const { return folder_.read("log"); }
  pid_t pid() const noexcept { return program_->pid(); }

 private:
  void read_answers();

  scratch_folder folder_;
  std::shared_ptr<peer_answers> answers_;
  int commands_ = -1, replies_ = -1;  // descriptors
  int last_id_ = 0;
  std::optional<program> program_;
  std::jthread reader_;
};

}  // namespace holdfast::testkit
