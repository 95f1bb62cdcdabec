#include "tests/sim/program/playable.hpp"

#include <utility>

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
    return playable{.name = std::string(l->name),
                    .draw = [l](std::uint64_t seed) { return draw(seed, *l); },
                    .play = play_redis,
                    .is_usual = l->is_usual()};
  if (layout == "redlock") return playable_redlock(usual_masters);
#ifdef HOLDFAST_WITH_MYSQL
  if (const played_strategy* const s = strategy_named(layout))
    return playable{.name = std::string(s->name),
                    .draw = [s](std::uint64_t seed) { return draw(seed, *s); },
                    .play = play_mysql,
                    .backend = "mysql"};
#endif
#ifdef HOLDFAST_WITH_ZOOKEEPER
  if (const zookeeper_layout* const l = zookeeper_layout_named(layout))
    return playable{.name = std::string(l->name),
                    .draw = [l](std::uint64_t seed) { return draw(seed, *l); },
                    .play = play_zookeeper,
                    .backend = "zookeeper",
                    .has_mutexes = seam::has_modes_of(lock_kind::mutex, l->can)};
#endif
  return std::nullopt;
}

std::optional<playable> playable_of_two(std::string_view layout, int replicas) {
#ifdef HOLDFAST_WITH_MYSQL
  if (const played_strategy* const s = strategy_named(layout); s && replicas == 0)
    return playable{.name = std::string(s->name),
                    .draw = [s](std::uint64_t seed) { return draw_of_two(seed, *s); },
                    .play = play_mysql,
                    .servers = 2,
                    .backend = "mysql"};
#endif
  const played_layout* const l = layout_named(layout);
  if (!l) return std::nullopt;
  return playable{.name = std::string(l->name),
                  .draw =
                      [l, replicas](std::uint64_t seed) { return draw_of_two(seed, *l, replicas); },
                  .play = play_redis,
                  .is_usual = l->is_usual(),
                  .servers = 2,
                  .replicas = replicas};
}

std::optional<playable> playable_of_sentinels(std::string_view layout, int replicas) {
  const played_layout* const l = layout_named(layout);
  if (!l) return std::nullopt;
  playable out = *playable_of_two(layout, replicas);
  out.draw = [l, replicas](std::uint64_t seed) { return draw_of_sentinels(seed, *l, replicas); };
  out.sentinels = usual_sentinels;
  return out;
}

std::optional<playable> playable_of_cluster(std::string_view layout, int masters) {
  const played_layout* const l = layout_named(layout);
  if (!l || !l->is_usual() || masters < 2 || masters > cluster_max) return std::nullopt;
  playable out;
  out.name = l->name;
  out.draw = [masters](std::uint64_t seed) { return draw_of_cluster(seed, masters); };
  out.play = play_redis;
  out.is_usual = true;
  out.masters = masters;
  return out;
}

playable playable_redlock(int masters) {
  playable out;
  out.name = "redlock";
  out.draw = [masters](std::uint64_t seed) { return draw_redlock(seed, masters); };
  out.play = play_redlock;
  out.servers = masters;
  return out;
}

std::vector<playable> all_playable() {
  std::vector<playable> out;
  const auto add = [&](std::string_view name) { out.push_back(*playable_named(name)); };
  for (const std::string_view name : played_layouts()) add(name);
  for (const int replicas : {0, 1})
    for (const std::string_view name : played_layouts())
      out.push_back(*playable_of_two(name, replicas));
  for (const int replicas : {0, 1}) out.push_back(*playable_of_sentinels({}, replicas));
  out.push_back(*playable_of_cluster({}, usual_cluster));
  add("redlock");
#ifdef HOLDFAST_WITH_MYSQL
  for (const std::string_view name : played_strategies()) add(name);
  for (const std::string_view name : played_strategies()) out.push_back(*playable_of_two(name));
#endif
#ifdef HOLDFAST_WITH_ZOOKEEPER
  for (const std::string_view name : zookeeper_layouts()) add(name);
#endif
  return out;
}

std::string title_of(const playable& l) {
  const std::string replicas = l.replicas > 0 ? ", replicas=" + std::to_string(l.replicas) : "";
  const char* const servers = l.sentinels > 0  ? ", sentinels"
                              : l.servers == 2 ? ", 2 servers"
                              : l.masters > 0  ? ", cluster"
                                               : "";
  return l.name + replicas + servers;
}

std::string playable_layouts() {
  std::string out;
  for (const playable& l : all_playable())
    if (l.servers != 2 && l.masters == 0) out.append(out.empty() ? "" : ", ").append(l.name);
  return out;
}

std::optional<playable> of_mutexes(playable l) {
  if (!l.has_mutexes) return std::nullopt;
  l.draw = [draw = std::move(l.draw)](std::uint64_t seed) {
    plan p = draw(seed);
    p.locks_are = kind::mutex;
    p.permits = 0;
    return p;
  };
  return l;
}

}  // namespace holdfast::sim
