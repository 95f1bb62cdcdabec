// run/spawn: what `holdfast run` adds to the start and the end of a command.
#include <stdlib.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <stdexcept>

#include "child_process.hpp"
#include "row.hpp"
#include "scratch_folder.hpp"

namespace bench {
namespace {

std::string holdfast_program() {
  if (const char* given = std::getenv("HOLDFAST_BIN")) return given;
  const auto beside = std::filesystem::path(own_program()).parent_path() / "../cli/holdfast";
  if (access(beside.c_str(), X_OK) != 0)
    throw std::runtime_error("there is no holdfast program at " + beside.string() +
                             ": build it, or name it in HOLDFAST_BIN");
  return std::filesystem::canonical(beside).string();
}

outcome microseconds_per_command(const std::vector<std::string>& argv, seconds length) {
  using steady = std::chrono::steady_clock;
  constexpr int fewest = 10;
  int done = 0;
  const auto begun = steady::now();
  seconds passed{};
  while (done < fewest || passed < length) {
    if (const int code = child_process(argv).wait(); code != 0)
      throw std::runtime_error(argv[0] + " ended with exit code " + std::to_string(code));
    ++done;
    passed = steady::now() - begun;
  }
  return {passed.count() * 1e6 / done, {}};
}

}  // namespace

std::vector<contest> run_spawn() {
  const auto folder = std::make_shared<scratch_folder>();
  // The default directory is for the locks of this user, one of which may be called x too.
  setenv("HOLDFAST_URL", folder->url().c_str(), 1);
  const std::vector<std::string> bare = {"flock", folder->file("bare"), "true"};
  const std::vector<std::string> ours = {holdfast_program(), "run", "-n", "x", "--", "true"};
  return {{"", [folder, bare](seconds length) { return microseconds_per_command(bare, length); },
           [ours](seconds length) { return microseconds_per_command(ours, length); }}};
}

}  // namespace bench
