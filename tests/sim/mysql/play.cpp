#include "tests/sim/mysql/play.hpp"

#include "tests/sim/judge/judge.hpp"
#include "tests/sim/machine/world.hpp"
#include "tests/sim/mysql/mysql_store.hpp"

namespace holdfast::sim {

result play_mysql(const plan& p, std::ostream* trace, recording r) {
  const world_parts parts{[](world& w) -> std::unique_ptr<store_model> {
                            return std::make_unique<mysql_store>(w);
                          },
                          [](world& w, store_model& s) -> std::unique_ptr<observer> {
                            const played_strategy& of = *strategy_named(w.schedule.layout);
                            return std::make_unique<judge>(w, of.view(static_cast<mysql_store&>(s),
                                                                      w.lock_names()));
                          }};
  return play(p, parts, trace, r);
}

}  // namespace holdfast::sim
