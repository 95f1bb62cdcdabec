// The result of a schedule, and how one is played.
#pragma once
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <string>

#include "tests/sim/machine/plan.hpp"
#include "tests/sim/machine/rules.hpp"

namespace holdfast::sim {

class world;
class store_model;
class observer;

enum class recording : bool { off, on };

struct result {
  std::string complaint;  // empty: all as it must be
  moment lasted{};
  std::uint64_t events = 0;
  std::uint64_t digest = 0;  // of what was recorded; with a trace it always is
  double excused_share = 0;  // of the time of its clients
  // The rules of its store's judge, and those of them that had something to judge.
  rule_set rules{}, applied{};
};

struct world_parts {  // what makes a world one of a store
  std::unique_ptr<store_model> (*store)(world&);
  std::unique_ptr<observer> (*judge)(world&, store_model&);
};

result play(const plan&, const world_parts&, std::ostream* trace = nullptr,
            recording = recording::off);

// Plays one schedule on a certain store.
using player = std::function<result(const plan&, std::ostream* trace, recording)>;

}  // namespace holdfast::sim
