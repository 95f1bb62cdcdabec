// redis/redisson-w3 and redisson-w4: layout redisson against the real Redisson on the same server.
#include <holdfast/holdfast.hpp>

#include <memory>
#include <string>
#include <vector>

#include "contenders.hpp"
#include "handoff.hpp"
#include "redis/fixture.hpp"
#include "redis/layouts.hpp"
#include "redis/real_redisson.hpp"
#include "row.hpp"

namespace bench {
namespace {

constexpr const char* layout_of_redisson = "redisson";
constexpr unsigned processes = 4, threads_of_each = 4;

// Both sides lock the same name; a side that does not run holds nothing.
struct one_name {
  redis_fixture fixture;
  std::unique_ptr<redisson_contenders_of> theirs;

  one_name(unsigned jvms, unsigned threads, const std::string& options = {}) {
    need_layout(fixture, layout_of_redisson);
    theirs =
        std::make_unique<redisson_contenders_of>(fixture.port(), jvms, threads, "bench", options);
  }
};

}  // namespace

// Redisson keeps a connection for each command under way; of a small pool, commands share them.
std::vector<contest> redisson_contenders() {
  constexpr unsigned threads = processes * threads_of_each;
  std::vector<contest> contests;
  for (const char* options : {"", "connections=8"}) {
    const auto on = std::make_shared<one_name>(1, threads, options);
    const auto client = holdfast::client::open(on->fixture.url(query_of(layout_of_redisson)));
    const auto lock = std::make_shared<holdfast::mutex>(client.mutex("bench"));
    contests.push_back(
        {*options ? "a pool of 8 connections" : "a pool of 64 connections",
         [on](seconds length) { return on->theirs->run(length); },
         [on, lock](seconds length) { return run_contenders(*lock, threads, length); }});
  }
  return contests;
}

std::vector<contest> redisson_processes() {
  const auto on = std::make_shared<one_name>(processes, threads_of_each);
  const auto ours = [on](seconds length) {
    const std::string url = on->fixture.url(query_of(layout_of_redisson) + "&turns=1");
    const auto o = run_contender({"mutex", url, processes, threads_of_each}, length);
    return outcome{o.cycles,
                   {{"max/min per worker", o.unfairness},
                    {"hand-offs to another process/s", o.handoffs}}};
  };
  return {{"", [on](seconds length) { return on->theirs->run(length); }, ours}};
}

}  // namespace bench
