// file/w4: one lock, four processes of four threads.
#include <memory>

#include "handoff.hpp"
#include "row.hpp"
#include "scratch_folder.hpp"

namespace bench {

std::vector<contest> file_processes() {
  const auto folder = std::make_shared<scratch_folder>();
  // Bare flock knows no threads: one of each process is the most that can wait for it.
  const contender bare{"flock", folder->file("bare"), 4, 1};
  const contender ours{"holdfast", folder->url() + "?turns=1", 4, 4};
  const auto run = [folder](const contender& p, seconds length) {
    const auto o = run_contender(p, length);
    return outcome{o.handoffs, {{"cycles/s", o.cycles}}};
  };
  return {{"", [run, bare](seconds length) { return run(bare, length); },
           [run, ours](seconds length) { return run(ours, length); }}};
}

}  // namespace bench
