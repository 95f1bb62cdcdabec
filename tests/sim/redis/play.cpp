#include "tests/sim/redis/play.hpp"

#include "tests/sim/judge/judge.hpp"
#include "tests/sim/machine/world.hpp"
#include "tests/sim/redis/redis_store.hpp"

namespace holdfast::sim {

result play_redis(const plan& p, std::ostream* trace, recording r) {
  const world_parts parts{[](world& w) -> std::unique_ptr<store_model> {
                            return std::make_unique<redis_store>(w);
                          },
                          [](world& w, store_model& s) -> std::unique_ptr<observer> {
                            auto& of = static_cast<redis_store&>(s);
                            return std::make_unique<judge>(w, layout_named(w.schedule.layout)
                                                                  ->view(of, w.lock_names()));
                          }};
  model_redis::shorten_loops(p.has_small_limits);
  return play(p, parts, trace, r);
}

}  // namespace holdfast::sim
