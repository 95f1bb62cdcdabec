// redis/w4, w4-turns and rw-mixed: one lock, four processes of four threads; redis/w4-single: four
// processes of one thread.
#include <memory>
#include <string>

#include "handoff.hpp"
#include "redis/fixture.hpp"
#include "redis/peers.hpp"
#include "row.hpp"

namespace bench {
namespace {

constexpr const char* one_turn = "?turns=1";

outcome by_tokens(redis_fixture& fixture, unsigned threads, seconds length) {
  fixture.lay_out_token();
  const auto o = run_contender({"token", std::to_string(fixture.port()), 4, threads}, length);
  return {o.cycles, {{"max/min per worker", o.unfairness}}};
}

outcome by_holdfast(redis_fixture& fixture, const std::string& query, unsigned threads,
                    seconds length) {
  const auto before = fixture.requests();
  const double cpu_before = fixture.cpu_seconds();
  const auto o = run_contender({"holdfast", fixture.url(query), 4, threads}, length);
  const double cpu = fixture.cpu_seconds() - cpu_before;
  const auto asked = static_cast<double>(fixture.requests() - before);
  const auto acquisitions = static_cast<double>(o.in_all);
  return {o.cycles,
          {{"max/min per worker", o.unfairness},
           {"requests per acquisition", asked / acquisitions},
           {"CPU us of the server per acquisition", cpu * 1e6 / acquisitions},
           {"hand-offs to another process/s", o.handoffs}}};
}

outcome by_readers_and_writers(redis_fixture& fixture, const std::string& kind, seconds length) {
  const auto o = run_contender({kind, fixture.url(), 4, 4}, length);
  return {o.cycles, {{"max/min per worker", o.unfairness}}};
}

}  // namespace

std::vector<contest> redis_processes() {
  const auto fixture = std::make_shared<redis_fixture>();
  return {{"", [fixture](seconds length) { return by_tokens(*fixture, 4, length); },
           [fixture](seconds length) { return by_holdfast(*fixture, one_turn, 4, length); },
           redis_peers(fixture->port(), workload::one_lock)}};
}

std::vector<contest> redis_processes_of_one_thread() {
  const auto fixture = std::make_shared<redis_fixture>();
  return {{"", [fixture](seconds length) { return by_tokens(*fixture, 1, length); },
           [fixture](seconds length) { return by_holdfast(*fixture, one_turn, 1, length); }}};
}

std::vector<contest> redis_processes_in_turns() {
  const auto fixture = std::make_shared<redis_fixture>();
  return {{"", [fixture](seconds length) { return by_holdfast(*fixture, one_turn, 4, length); },
           [fixture](seconds length) { return by_holdfast(*fixture, "", 4, length); }}};
}

std::vector<contest> redis_readers_and_writers() {
  const auto fixture = std::make_shared<redis_fixture>();
  const auto with = [fixture](const char* kind) {
    return [=](seconds length) { return by_readers_and_writers(*fixture, kind, length); };
  };
  return {{"", with("as readers"), with("readers")}};
}

}  // namespace bench
