// Another client that requests the locks: an actor (process/actor.hpp) in a thread, with a client
// of its own, or in a process.
#pragma once
#include <sys/types.h>

#include <chrono>
#include <memory>
#include <string>

#include "subject.hpp"
#include "testkit/asleep.hpp"

namespace contract {

// How long the suite waits for what must come. Never how long something may take.
// Less in a case that must fail: see expected_failure.hpp.
inline std::chrono::seconds generous{40};

class contender {
 public:
  virtual ~contender() = default;  // ends it, whatever it does
  virtual void send(const std::string& line) = 0;
  // The next answer; "" when there is none within `bound`.
  virtual std::string receive(std::chrono::milliseconds bound) = 0;
  // What the contender's own thread of the system is called.
  virtual pid_t process() const = 0;
  virtual pid_t thread() const = 0;

  virtual void stop() = 0;   // as SIGSTOP
  virtual void go_on() = 0;  // as SIGCONT
  virtual void kill() = 0;   // as SIGKILL

  std::string ask(const std::string& line) {
    send(line);
    return receive(generous);
  }
  bool answers_nothing_yet() { return receive(std::chrono::milliseconds(0)).empty(); }
};

std::unique_ptr<contender> make_thread_contender(subject&);
std::unique_ptr<contender> make_process_contender();

using holdfast::testkit::falls_asleep;

}  // namespace contract
