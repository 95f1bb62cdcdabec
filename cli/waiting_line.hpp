// What is seen of a wait: where the locks are that it waits for, and on a terminal who holds them:
// one line, refreshed once a second.
#pragma once
#include <holdfast/client.hpp>

#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "cli/place.hpp"

namespace holdfast::cli {

class waiting_line {
 public:
  // Says where, and who said so: somebody who waits for ever may be waiting in the wrong place.
  // Asks the client for the holder from a thread of its own, so that a server that does not answer
  // delays neither signals nor the grant.
  waiting_line(const client&, const place&, std::span<const std::string> names);
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
