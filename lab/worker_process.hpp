// A client in a process of its own, which a story can kill or stop.
#pragma once
#include <sys/types.h>

#include <functional>
#include <string>

namespace holdfast::lab {

// Both sides of a pair of pipes send each other lines.
class lines {
 public:
  void send(const std::string&) const;
  std::string receive() const;  // "": the other side has ended
  int in = -1, out = -1;
};

// A fork of this process that runs `body` and ends. A story makes it before its own clients,
// because threads do not survive a fork.
class worker_process {
 public:
  explicit worker_process(const std::function<void(const lines&)>& body);
  ~worker_process();  // kills it
  worker_process(const worker_process&) = delete;
  worker_process& operator=(const worker_process&) = delete;

  void send(const std::string& text) const { lines_.send(text); }
  std::string receive() const { return lines_.receive(); }
  std::string ask(const std::string& text) const;  // sends it and receives the answer
  void stop();                                     // SIGSTOP; returns when it is stopped
  void go_on();                                    // SIGCONT
  void kill();                                     // SIGKILL; returns when it has ended

 private:
  pid_t pid_ = -1;
  lines lines_;
};

}  // namespace holdfast::lab
