#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/sim/full_suite.hpp"
#include "tests/sim/redis/layouts.hpp"
#include "tests/sim/redis/play.hpp"

namespace holdfast::sim {

namespace {

void expect_all_well(std::uint64_t first, std::uint64_t count, flavour how) {
  for (std::uint64_t seed = first; seed < first + share_of(count); ++seed) {
    const plan p = draw(seed, how);
    const result r = play_redis(p);
    ASSERT_EQ(r.complaint, "") << p.text();
  }
}

struct sim_layout : testing::TestWithParam<const char*> {};

// Each with the real scripts, on a model that is checked against the real server.
TEST_P(sim_layout, keeps_its_promises_without_trouble_with_crashes_and_in_any_trouble) {
  const played_layout& layout = *layout_named(GetParam());
  for (const flavour how : {flavour::calm, flavour::crashes, flavour::any})
    for (std::uint64_t seed = 1; seed <= share_of(300); ++seed) {
      const plan p = draw(seed, how, layout);
      ASSERT_EQ(play_redis(p).complaint, "") << p.text();
    }
}

INSTANTIATE_TEST_SUITE_P(played, sim_layout,
                         testing::Values("lua", "redisson", "redisson-fair", "redisson-rw"),
                         [](const auto& of) {
                           std::string name = of.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(sim_of_two_servers, keeps_its_promises_while_no_role_changes) {
  for (const char* layout : {"string", "lua", "redisson", "redisson-fair", "redisson-rw"})
    for (std::uint64_t seed = 1; seed <= share_of(50); ++seed) {
      plan p = draw_of_two(seed, *layout_named(layout));
      p.faults.clear();
      ASSERT_EQ(play_redis(p).complaint, "") << p.text();
    }
}

TEST(sim_of_two_servers, all_promises_are_kept_where_they_once_were_not) {
  struct broken {
    std::uint64_t seed;
    const char* layout = "string";
  };
  for (const broken& b : {
           broken{54},   // the server that an operator returned to was stopped
           broken{225},  // a promoted master had another replication id before clients reached it
           broken{199},  // a client was idle when the name moved
           broken{826},  // the same
           broken{603},  // a claim had been queued at the other server
           broken{711253},    // a client had reached the promoted server before the name led there
           broken{99120487},  // a connection for messages was ready after the commands had moved
           broken{99004373},  // a queue was copied with a claim that had the lock elsewhere
           broken{99000047},  // a reader was queued again after another server took over
           broken{702437},    // a claim was withdrawn at the server that led before
           broken{814198, "redisson-rw"},  // the master drew another id, which its heir continued
           broken{99302652},  // a claim whose lease was lost was queued at the other server
           broken{99206923},  // a client was at a server that was a replica meanwhile
           broken{99106746, "redisson-fair"},  // the same
           broken{99329656},  // a connection for messages was greeting the stopped server before
           broken{99400629},  // the name led back to a master that no client could recognize
           broken{2518},      // a claim that believed an older grant came into another group
           broken{30888},     // a request from before its claim was queued arrived at the heir
           broken{44229, "redisson"},  // the first connection for messages greeted a stopped server
       })
    EXPECT_EQ(play_redis(draw_of_two(b.seed, *layout_named(b.layout))).complaint, "")
        << b.layout << ", seed " << b.seed;
}

TEST(sim_of_two_servers, all_promises_of_confirmed_replies_are_kept_where_they_once_were_not) {
  struct broken {
    std::uint64_t seed;
    const char* layout = "string";
  };
  for (const broken& b : {
           broken{12},             // the messages to waiters were held back without an end
           broken{5, "redisson"},  // the same
           broken{285},  // replicas confirmed what a master had answered before it was a replica
       })
    EXPECT_EQ(play_redis(draw_of_two(b.seed, *layout_named(b.layout), 1)).complaint, "")
        << b.layout << ", seed " << b.seed;
}

// One change of roles, of which every connection shows the client all.
plan with_one_plain_change(plan p) {
  bool is_first = true;
  std::erase_if(p.faults, [&](const fault& f) {
    const bool changes = f.what == trouble::promoted || f.what == trouble::failed_over;
    return f.what >= trouble::promoted && !(changes && std::exchange(is_first, false));
  });
  for (fault& f : p.faults) {
    f.cuts = fault::share::all;
    f.lost = f.name_follows = {};
  }
  return p;
}

TEST(sim_of_two_servers, keeps_its_promises_when_all_connections_are_cut_and_nothing_is_lost) {
  for (const char* layout : {"string", "lua", "redisson", "redisson-fair", "redisson-rw"})
    for (std::uint64_t seed = 1; seed <= share_of(50); ++seed) {
      const plan p = with_one_plain_change(draw_of_two(seed, *layout_named(layout)));
      ASSERT_EQ(play_redis(p).complaint, "") << p.text();
    }
}

// Replies count once the replica has confirmed them: no change of roles loses a grant.
TEST(sim_of_two_servers, keeps_its_promises_with_a_replica_that_confirms_while_no_role_changes) {
  for (const char* layout : {"string", "lua", "redisson", "redisson-fair", "redisson-rw"})
    for (std::uint64_t seed = 1; seed <= share_of(50); ++seed) {
      plan p = draw_of_two(seed, *layout_named(layout), 1);
      p.faults.clear();
      ASSERT_EQ(play_redis(p).complaint, "") << p.text();
    }
}

TEST(sim_of_two_servers, keeps_its_promises_with_a_replica_that_confirms_when_roles_change) {
  for (const char* layout : {"string", "lua", "redisson", "redisson-fair", "redisson-rw"})
    for (std::uint64_t seed = 1; seed <= share_of(50); ++seed) {
      const plan p = draw_of_two(seed, *layout_named(layout), 1);
      ASSERT_EQ(play_redis(p).complaint, "") << p.text();
    }
}

TEST(sim, without_trouble_all_promises_are_kept) { expect_all_well(1, 2000, flavour::calm); }

TEST(sim, all_promises_are_kept_when_clients_crash) { expect_all_well(1, 2000, flavour::crashes); }

TEST(sim, all_promises_are_kept_in_any_trouble_and_all_are_served_after_it) {
  expect_all_well(1, 2500, flavour::any);
}

// Schedules that once broke a promise, or the judge.
TEST(sim, all_promises_are_kept_where_they_once_were_not) {
  for (const std::uint64_t seed : {
           18890,     // a user kept a lost lease while another user of its process waited
           772105,    // a script was refused half-way, and its claim was not withdrawn
           57817,     // a request for several at once removed a waiter that was not subscribed
           471525,    // the new owner and the claim that watched the hand-over were both lost
           1072013,   // a lock acquired past a lost waiter was kept, though others waited behind it
           88001758,  // a provisional grant became a share while its first renewal was in flight
           125799,    // several at once, repeated by text: silence counted from the first send
           433176,    // a release was refused half-way, and the next waiter had left the queue
           300005673,   // the same of a hand-over in one step
           200021228,   // one of two that were let in together had its old place again
           1795455762,  // the clients closed before a refused withdrawal was repeated
           5002373,     // the lock was handed to a waiter whose message was refused
           510002956,   // permits were
           2761,        // the counts of permits were evicted
           859,         // attempts to connect out of turn made the pause after them longer
           538,         // a permit of an ended semaphore stayed behind after its release
           10096,       // a lease that was confirmed after a restart left its note
           60342,       // a semaphore that had lapsed left its counts of permits
           60498,       // a lease was lost by a leap of the clock that was older
           9009,        // an old queue had claims that no user wanted any more
           18752,       // a waiter looked later by a round trip that had been long
           206370,      // a greeting that came late made the pause after it longer
           883235,      // a waiter was told to look at a time by a clock that had been set forward
           707975,      // lost writes brought back a claim that had left
           705731,      // a member's lease ran out and was renewed
           11444,       // a lease ran out while the connection for renewals opened slowly
       })
    EXPECT_EQ(play_redis(draw(seed)).complaint, "") << "seed " << seed;
}

TEST(sim, all_promises_are_kept_in_other_layouts_where_they_once_were_not) {
  struct broken {
    const char* layout;
    std::uint64_t seed;
  };
  for (const broken& b : {
           broken{"redisson-fair", 830},    // the next waiter did not know when the lease ended
           broken{"redisson-rw", 780},      // a downgrade was refused half-way
           broken{"redisson-fair", 1123},   // nor where it asked before the head had the free lock
           broken{"redisson", 8300001893},  // two grants of one claim had the same token
           broken{"redisson-rw", 30553},    // a refused SUBSCRIBE was never repeated
           broken{"redisson-fair", 7300023011},  // a waiter's connection for messages was refused
           broken{"lua", 72926},  // a late reply to an old renewal moved a deadline back
       })
    EXPECT_EQ(play_redis(draw(b.seed, *layout_named(b.layout))).complaint, "")
        << b.layout << ", seed " << b.seed;
}

TEST(sim, a_schedule_is_its_seed) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    std::ostringstream first, second;
    play_redis(draw(seed), &first);
    play_redis(draw(seed), &second);
    ASSERT_EQ(first.str(), second.str()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace holdfast::sim
