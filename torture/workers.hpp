// The worker processes of a campaign, and what happens to them.
#pragma once
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "testkit/history.hpp"
#include "testkit/servers/clock_shim.hpp"
#include "testkit/servers/program.hpp"
#include "torture/fault.hpp"
#include "torture/plant.hpp"

namespace holdfast::torture {

// Of one thread, which lives as long as it.
class workers {
 public:
  struct terms {
    std::string program;            // which runs a worker with --worker
    std::vector<std::string> urls;  // for the workers in turn
    std::string folder;             // for histories and reports; and the resource's socket
    std::uint64_t seed = 0;
    plant planted = plant::nothing;
  };
  workers(terms, fault_log&);
  ~workers();
  workers(const workers&) = delete;
  workers& operator=(const workers&) = delete;

  void add();
  std::vector<fault> faults();

  // Waits until each living worker has been granted a lock from now on. Returns a line for each
  // that was not.
  std::vector<std::string> wait_until_recovered(std::chrono::milliseconds bound);
  // Ends them. Returns a line for each that did not end within the bound, crashed, or reported a
  // violation.
  std::vector<std::string> finish(std::chrono::milliseconds bound);

 private:
  struct worker {
    std::string name;
    std::unique_ptr<testkit::clock_shim> shim;
    std::unique_ptr<testkit::program> process;
    int input = -1;  // its standard input
  };

  void stop_some(dice&);
  void kill_one(dice&);
  void step_clock(dice&);
  std::string report_of(const worker&) const;
  std::vector<std::string> complaints_of(const worker&) const;

  const terms terms_;
  fault_log& log_;
  dice seeds_;
  std::size_t added_ = 0;
  std::vector<worker> all_;
  std::vector<std::string> complaints_of_the_killed_;
};

}  // namespace holdfast::torture
