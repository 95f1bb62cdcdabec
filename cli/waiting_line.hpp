// Reports a wait: the place of the locks and their holders, at once and then each minute. On a
// terminal, one line that is refreshed each second replaces the later reports.
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
  // The report names where the URL came from: a caller that waits forever may be waiting in the
  // wrong place. A thread of its own asks for the holder, so that a server that does not answer
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
