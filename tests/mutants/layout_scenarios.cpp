// Duties of layouts and their scripts that the simulator's schedules show too rarely.
#include "scenario.hpp"

#ifdef HOLDFAST_WITH_REDIS
#include <cstdint>
#include <utility>

#include "backend/redis/layouts/redisson_fair/codec.hpp"
#include "tests/unit/backend/redis/layouts/codec_on_model.hpp"
#include "tests/unit/backend/redis/on_model.hpp"

namespace holdfast::mutants {
namespace {

using base::mutant;
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

std::string no_renewal_shortens_a_lease() {
  on_model world;
  lease held = world.open().mutex("job").acquire();
  held.extend(10min);
  held.extend(1s);  // also when an earlier renewal arrives that late
  const auto all = world.open().list();
  const bool is_long = all.size() == 1 && all[0].expires_in > 5min;
  return is_long ? "" : "the server ends a lease that another renewal has made longer";
}

std::string a_late_release_leaves_no_note() {
  on_model world;
  const client c = world.open();
  lease held = c.mutex("job").acquire({.note = "nightly"});
  world.pass(100ms);
  world.command({"DEL", "job"});
  std::error_code ec;
  held.release(ec);
  return world.command({"EXISTS", "holdfast:{job}:job:m"}).starts_with(":0") ? "" : "a note stays";
}

std::string a_refused_downgrade_lets_no_other_group_in() {
  on_model world;
  const client c = world.open(), d = world.open();
  shared_mutex m(c, "job"), n(d, "job");
  lease held = m.acquire();
  world.model.forbid("zadd");
  held = m.downgrade(std::move(held));
  world.pass(100ms);
  world.model.allow("zadd");
  const lease other = n.try_acquire_shared();
  const bool is_together = !other || other.token() / 1024 == held.token() / 1024;
  return is_together ? "" : "a reader of another group holds the lock";
}

std::string a_client_that_locks_without_a_pause_lets_its_peers_in() {
  on_model world;
  const client c = world.open("layout=redisson-spin");
  const mutex m = c.mutex("job");
  lease held = m.acquire();
  world.pass(10ms);
  held.release();
  bool is_free = false;
  world.at(2ms, [&] { is_free = world.command({"EXISTS", "job"}).starts_with(":0"); });
  held = m.acquire();
  world.pass(10ms);
  return is_free ? "" : "a peer that polls finds the lock held each time";
}

// The server answers late that it does not know the script, and then at once.
std::string silence_counts_from_the_second_sending() {
  on_model world;
  const client c = world.open("op-timeout=1s");
  c.mutex("job").acquire().release();
  int greetings = 0;
  bool is_repeated = false;
  world.changed = [&](std::string bytes) {
    greetings += bytes.find("run_id:") != bytes.npos ? 1 : 0;
    if (bytes.find("NOSCRIPT") != bytes.npos) {
      is_repeated = true;
      world.time.freeze(700ms);
    } else if (std::exchange(is_repeated, false)) {
      world.time.advance(1ms);
    }
    return bytes;
  };
  std::error_code ec;
  const lease_set both = c.try_acquire_all({"a", "b"}, ec);
  return greetings == 0 ? "" : "a connection that has just been written to is given up as silent";
}

// Owners of a fair lock, by the order in which they began. Each has waited before.
struct fair_owners {
  using operation = redis::retrying_operation;
  const redis::redisson_fair::codec tested;
  redis::codec_on_model on{tested};

  std::string request(operation what, std::uint64_t number, base::duration ttl = 30s) {
    const std::string owner =
        tested.text_of({.high = 1,
                        .low = number,
                        .drawn = std::chrono::microseconds(1'700'000'000'000'000 + number)});
    on.ask(what, {.key = "job", .owner = owner, .ttl = ttl, .may_queue = true, .had_place = true});
    return owner;
  }
  void listen_to(const std::string& owner) {
    on.listen_to("redisson_lock__channel:{job}:" + owner);
    on.heard();
  }
};

// The next waiter knows the end of the lease before.
std::string a_grant_with_a_short_lease_wakes_the_next_waiter() {
  fair_owners s;
  s.request(fair_owners::operation::try_lock, 1);
  s.request(fair_owners::operation::try_lock, 2);
  s.listen_to(s.request(fair_owners::operation::try_lock, 3));
  s.request(fair_owners::operation::release, 1);
  s.on.heard();
  s.request(fair_owners::operation::try_lock, 2, 1s);
  return s.on.heard().empty() ? "the next waiter sleeps beyond the end of a short lease" : "";
}

std::string a_waiter_behind_one_that_returned_is_woken() {
  fair_owners s;
  s.request(fair_owners::operation::try_lock, 1);
  s.listen_to(s.request(fair_owners::operation::try_lock, 3));
  s.request(fair_owners::operation::try_lock, 2);
  s.request(fair_owners::operation::release, 1);
  s.request(fair_owners::operation::try_lock, 2);
  s.request(fair_owners::operation::release, 2);
  return s.on.heard().empty() ? "a waiter that lives is taken for dead" : "";
}

constexpr scenario all_of_layouts[] = {
    {mutant::peers_outrun, "redis", a_client_that_locks_without_a_pause_lets_its_peers_in},
    {mutant::late_renewal_shortens, "redis", no_renewal_shortens_a_lease},
    {mutant::silence_dated_back, "redis", silence_counts_from_the_second_sending},
    {mutant::none, "redis", a_late_release_leaves_no_note, "notes_outlive_a_late_release"},
    {mutant::none, "redis", a_refused_downgrade_lets_no_other_group_in,
     "group_before_its_first_reader"},
    {mutant::none, "redis", a_dead_reader_keeps_no_writer_out, "dead_reader_kept"},
    {mutant::none, "redis", readers_hear_of_a_downgrade, "downgrade_not_published"},
    {mutant::none, "redis", a_grant_with_a_short_lease_wakes_the_next_waiter,
     "next_waiter_knows_an_old_lease"},
    {mutant::none, "redis", a_waiter_behind_one_that_returned_is_woken,
     "window_of_the_returned_forgotten"},
};

}  // namespace

std::span<const scenario> layout_scenarios() { return all_of_layouts; }

}  // namespace holdfast::mutants
#else
namespace holdfast::mutants {
std::span<const scenario> layout_scenarios() { return {}; }
}  // namespace holdfast::mutants
#endif
