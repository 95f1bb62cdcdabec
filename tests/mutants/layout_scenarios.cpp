// What the scripts of other layouts must do, where the simulator's schedules show it too rarely.
#include "scenario.hpp"

#ifdef HOLDFAST_WITH_REDIS
#include "tests/unit/backend/redis/on_model.hpp"

namespace holdfast::mutants {
namespace {

using core::mutant;
using redis::on_model;
using namespace std::chrono_literals;

std::string a_dead_reader_keeps_no_writer_out() {
  on_model world;
  const client c = world.open("layout=redisson-rw");
  world.command({"HSET", "job", "mode", "read", "8743c9c0-0795-4907-87fd-6c719a6b4586:1", "1"});
  world.command({"PEXPIRE", "job", "600000"});
  return c.mutex("job").try_acquire_for(10s) ? "" : "a reader without a lease keeps a writer out";
}

std::string readers_hear_of_a_downgrade() {
  on_model world;
  const client c = world.open("layout=redisson-rw"), d = world.open("layout=redisson-rw");
  shared_mutex m(c, "job"), n(d, "job");
  lease writer = m.acquire();
  world.at(1s, [&] { writer = m.downgrade(std::move(writer)); });
  return n.try_acquire_shared_for(2s) ? "" : "a reader sleeps though the writer became one";
}

constexpr scenario all_of_layouts[] = {
    {mutant::none, "redis", a_dead_reader_keeps_no_writer_out, "dead_reader_kept"},
    {mutant::none, "redis", readers_hear_of_a_downgrade, "downgrade_not_published"},
};

}  // namespace

std::span<const scenario> layout_scenarios() { return all_of_layouts; }

}  // namespace holdfast::mutants
#else
namespace holdfast::mutants {
std::span<const scenario> layout_scenarios() { return {}; }
}  // namespace holdfast::mutants
#endif
