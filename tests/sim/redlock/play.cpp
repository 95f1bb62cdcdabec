#include "tests/sim/redlock/play.hpp"

#include "tests/sim/machine/world.hpp"
#include "tests/sim/redlock/redlock_judge.hpp"
#include "tests/sim/redlock/redlock_store.hpp"

namespace holdfast::sim {

result play_redlock(const plan& p, std::ostream* trace, recording r) {
  const world_parts parts{[](world& w) -> std::unique_ptr<store_model> {
                            return std::make_unique<redlock_store>(w);
                          },
                          [](world& w, store_model& s) -> std::unique_ptr<observer> {
                            return std::make_unique<redlock_judge>(w,
                                                                   static_cast<redlock_store&>(s));
                          }};
  model_redis::shorten_loops(false);
  return play(p, parts, trace, r);
}

}  // namespace holdfast::sim
