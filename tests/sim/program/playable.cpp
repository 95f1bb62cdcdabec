#include "tests/sim/program/playable.hpp"

#ifdef HOLDFAST_WITH_MYSQL
#include "tests/sim/mysql/play.hpp"
#include "tests/sim/mysql/strategies.hpp"
#endif
#include "tests/sim/redis/layouts.hpp"
#include "tests/sim/redis/play.hpp"
#include "tests/sim/redlock/play.hpp"
#ifdef HOLDFAST_WITH_ZOOKEEPER
#include "tests/sim/zookeeper/layouts.hpp"
#include "tests/sim/zookeeper/play.hpp"
#endif

namespace holdfast::sim {

std::optional<playable> playable_named(std::string_view layout) {
  if (const played_layout* const l = layout_named(layout))
    return playable{std::string(l->name), [l](std::uint64_t seed) { return draw(seed, *l); },
                    play_redis, l->is_usual()};
  if (layout == "redlock") return playable_redlock(usual_masters);
#ifdef HOLDFAST_WITH_MYSQL
  if (const played_strategy* const s = strategy_named(layout))
    return playable{std::string(s->name), [s](std::uint64_t seed) { return draw(seed, *s); },
                    play_mysql};
#endif
#ifdef HOLDFAST_WITH_ZOOKEEPER
  if (const zookeeper_layout* const l = zookeeper_layout_named(layout))
    return playable{std::string(l->name), [l](std::uint64_t seed) { return draw(seed, *l); },
                    play_zookeeper};
#endif
  return std::nullopt;
}

std::optional<playable> playable_of_two(std::string_view layout) {
  const played_layout* const l = layout_named(layout);
  if (!l) return std::nullopt;
  return playable{std::string(l->name), [l](std::uint64_t seed) { return draw_of_two(seed, *l); },
                  play_redis, l->is_usual(), 2};
}

playable playable_redlock(int masters) {
  playable out;
  out.name = "redlock";
  out.draw = [masters](std::uint64_t seed) { return draw_redlock(seed, masters); };
  out.play = play_redlock;
  out.servers = masters;
  return out;
}

std::string playable_layouts() {
  std::string out = played_layouts() + ", redlock";
#ifdef HOLDFAST_WITH_MYSQL
  for (const std::string_view name : played_strategies()) out.append(", ").append(name);
#endif
#ifdef HOLDFAST_WITH_ZOOKEEPER
  for (const std::string_view name : zookeeper_layouts()) out.append(", ").append(name);
#endif
  return out;
}

}  // namespace holdfast::sim
