// redis/w4, w4-turns and rw-mixed: one lock, four processes of four threads.
#include <memory>
#include <string>

#include "handoff.hpp"
#include "redis/fixture.hpp"
#include "redis/peers.hpp"
#include "row.hpp"

namespace bench {
namespace {

constexpr const char* one_turn = "?turns=1";

outcome by_tokens(redis_fixture& fixture, seconds length) {
  fixture.lay_out_token();
  const auto o = run_contender({"token", std::to_string(fixture.port()), 4, 4}, length);
  return {o.cycles, {{"max/min per worker", o.unfairness}}};
}

outcome by_holdfast(redis_fixture& fixture, const std::string& query, seconds length) {
  const auto before = fixture.requests();
  const auto o = run_contender({"holdfast", fixture.url(query), 4, 4}, length);
  const auto asked = static_cast<double>(fixture.requests() - before);
  return {o.cycles,
          {{"max/min per worker", o.unfairness},
           {"requests per acquisition", asked / static_cast<double>(o.in_all)},
           {"hand-offs to another process/s", o.handoffs}}};
}

outcome by_readers_and_writers(redis_fixture& fixture, const std::string& kind, seconds length) {
  const auto o = run_contender({kind, fixture.url(), 4, 4}, length);
  return {o.cycles, {{"max/min per worker", o.unfairness}}};
}

}  // namespace

std::vector<contest> redis_processes() {
  const auto fixture = std::make_shared<redis_fixture>();
  return {{"", [fixture](seconds length) { return by_tokens(*fixture, length); },
           [fixture](seconds length) { return by_holdfast(*fixture, one_turn, length); },
           redis_peers(fixture->port(), workload::one_lock)}};
}

std::vector<contest> redis_processes_in_turns() {
  const auto fixture = std::make_shared<redis_fixture>();
  return {{"", [fixture](seconds length) { return by_holdfast(*fixture, one_turn, length); },
           [fixture](seconds length) { return by_holdfast(*fixture, "", length); }}};
}

std::vector<contest> redis_readers_and_writers() {
  const auto fixture = std::make_shared<redis_fixture>();
  const auto with = [fixture](const char* kind) {
    return [=](seconds length) { return by_readers_and_writers(*fixture, kind, length); };
  };
  return {{"", with("as readers"), with("readers")}};
}

}  // namespace bench
