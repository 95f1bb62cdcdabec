// On a terminal, a run that waits shows who holds the lock: one line, refreshed once a second.
#pragma once
#include <holdfast/client.hpp>

#include <memory>
#include <mutex>
#include <string>

namespace holdfast::cli {

class waiting_line {
 public:
  // Shows nothing when standard error is no terminal. Asks the client from a thread of its own, so
  // that a server that does not answer delays neither signals nor the grant.
  waiting_line(const client&, std::string name);
  ~waiting_line();  // the line is gone
  waiting_line(const waiting_line&) = delete;
  waiting_line& operator=(const waiting_line&) = delete;

 private:
  struct shared;
  std::shared_ptr<shared> shared_;
};

// Takes the line off the terminal, and keeps it off while the answer lives.
std::unique_lock<std::mutex> hide_waiting_line();

}  // namespace holdfast::cli
