#include "tests/sim/zookeeper/play.hpp"

#include "tests/sim/judge/judge.hpp"
#include "tests/sim/machine/world.hpp"
#include "tests/sim/zookeeper/nodes_view.hpp"

namespace holdfast::sim {

result play_zookeeper(const plan& p, std::ostream* trace, recording r) {
  const world_parts parts{[](world& w) -> std::unique_ptr<store_model> {
                            return std::make_unique<zookeeper_store>(w);
                          },
                          [](world& w, store_model& s) -> std::unique_ptr<observer> {
                            return std::make_unique<judge>(
                                w,
                                std::make_unique<nodes_view>(static_cast<zookeeper_store&>(s),
                                                             *zookeeper_layout_named(
                                                                 w.schedule.layout),
                                                             w.lock_names(), w.schedule.permits));
                          }};
  return play(p, parts, trace, r);
}

}  // namespace holdfast::sim
