// redis/w4, w4-turns and rw-mixed: one lock, four processes of four threads.
#include <memory>
#include <string>

#include "handoff.hpp"
#include "redis/peers.hpp"
#include "redis/stage.hpp"
#include "row.hpp"

namespace bench {
namespace {

constexpr const char* one_turn = "?turns=1";

outcome by_tokens(redis_stage& stage, seconds length) {
  stage.lay_out_token();
  const auto o = run_party({"token", std::to_string(stage.port()), 4, 4}, length);
  return {o.cycles, {{"max/min per worker", o.unfairness}}};
}

outcome by_holdfast(redis_stage& stage, const std::string& query, seconds length) {
  const auto before = stage.requests();
  const auto o = run_party({"holdfast", stage.url(query), 4, 4}, length);
  const auto asked = static_cast<double>(stage.requests() - before);
  return {o.cycles,
          {{"max/min per worker", o.unfairness},
           {"requests per acquisition", asked / static_cast<double>(o.in_all)},
           {"hand-offs to another process/s", o.handoffs}}};
}

outcome by_readers_and_writers(redis_stage& stage, const std::string& kind, seconds length) {
  const auto o = run_party({kind, stage.url(), 4, 4}, length);
  return {o.cycles, {{"max/min per worker", o.unfairness}}};
}

}  // namespace

std::vector<contest> redis_processes() {
  const auto stage = std::make_shared<redis_stage>();
  return {{"", [stage](seconds length) { return by_tokens(*stage, length); },
           [stage](seconds length) { return by_holdfast(*stage, one_turn, length); },
           redis_peers(stage->port(), workload::one_lock)}};
}

std::vector<contest> redis_processes_in_turns() {
  const auto stage = std::make_shared<redis_stage>();
  return {{"", [stage](seconds length) { return by_holdfast(*stage, one_turn, length); },
           [stage](seconds length) { return by_holdfast(*stage, "", length); }}};
}

std::vector<contest> redis_readers_and_writers() {
  const auto stage = std::make_shared<redis_stage>();
  const auto with = [stage](const char* kind) {
    return [=](seconds length) { return by_readers_and_writers(*stage, kind, length); };
  };
  return {{"", with("as readers"), with("readers")}};
}

}  // namespace bench
