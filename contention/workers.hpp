// Worker processes, and what happens to them.
#pragma once
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "contention/fault.hpp"
#include "history/history.hpp"
#include "testkit/servers/program.hpp"

namespace holdfast::contention {

// Of one thread, which lives as long as it.
class workers {
 public:
  using environment = std::vector<std::pair<std::string, std::string>>;
  struct terms {
    // The command line of a worker, and its environment beside what is inherited.
    std::function<std::vector<std::string>(const std::string& name)> command;
    std::function<environment(const std::string& name)> variables;
    std::string folder;  // for histories and reports
    std::chrono::milliseconds longest_stop{};
  };
  workers(terms, fault_log&);
  ~workers();
  workers(const workers&) = delete;
  workers& operator=(const workers&) = delete;

  void add();
  std::size_t size() const noexcept { return all_.size(); }
  const std::string& name(std::size_t i) const { return all_.at(i).name; }
  // SIGSTOP, SIGKILL and, with_cuts, cut connections.
  std::vector<fault> faults(bool with_cuts);

  // Waits until each living worker has been granted a lock from now on, or one of them where the
  // store serves no waiter in order. Returns a line for each that was not, if it had to be.
  std::vector<std::string> wait_until_recovered(std::chrono::milliseconds bound, bool in_order);
  // Ends them. Returns a line for each that did not end within the bound, crashed, or reported a
  // violation.
  std::vector<std::string> finish(std::chrono::milliseconds bound);

 private:
  struct worker {
    std::string name;
    std::unique_ptr<testkit::program> process;
    int input = -1;  // its standard input
  };

  void replace_the_crashed();
  void stop_some(dice&);
  void kill_one(dice&);
  void cut_one(dice&);
  static bool send(const worker&, char letter);  // false: it has crashed
  std::string report_of(const worker&) const;
  std::vector<std::string> complaints_of(const worker&) const;

  const terms terms_;
  fault_log& log_;
  std::size_t added_ = 0;
  std::vector<worker> all_;
  std::vector<std::string> complaints_of_the_gone_;
};

}  // namespace holdfast::contention
