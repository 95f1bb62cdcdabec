// Each library lists the other's locks and acts on a holder.
#include <holdfast/holdfast.hpp>

#include "tests/interop/zookeeper/table.hpp"

namespace holdfast::zookeeper_wire {
namespace {

struct watched_mutex {
  zookeeper_server server;
  kind mutex{library::curator, "mutex", "curator"};
  std::unique_ptr<contender> ours = contender_of_ours(server, mutex);
  std::unique_ptr<contender> theirs = contender_of_theirs(server, mutex);
  peer_client other{curator(), address_of(server)};
  client admin = client::open(server.url());
  queue_view nodes{curator(), server, "/x", "/x"};

  // Until both are queued.
  std::shared_future<clock::time_point> waiting(contender& p) {
    auto entered = p.wait();
    EXPECT_TRUE(eventually([&] { return nodes.queued() == 2 && p.is_asleep(); }));
    return entered;
  }
};

class curator_administration : public with_curator {};

TEST_F(curator_administration, holders_of_curator_are_shown_with_their_waiters) {
  watched_mutex on;
  on.theirs->hold();
  const auto entered = on.waiting(*on.ours);
  const auto all = on.admin.holders("x");
  ASSERT_EQ(all.size(), 1u);
  const std::string names = on.other.names("/x");
  EXPECT_NE(names.find(all[0].owner), std::string::npos) << all[0].owner << " of " << names;
  EXPECT_EQ(all[0].waiting, 1);
  EXPECT_EQ(all[0].pid, 0);
  EXPECT_GT(all[0].token, 0);
  EXPECT_EQ(on.other.ask("data /x/" + names.substr(0, names.find(' '))).empty(), false);
  EXPECT_FALSE(all[0].host.empty());  // Curator writes its address
  EXPECT_EQ(on.admin.list().size(), 1u);
  EXPECT_TRUE(on.theirs->release());
  entered.get();
  EXPECT_TRUE(on.ours->release());
}

TEST_F(curator_administration, participants_of_ours_are_shown_by_curator_in_order) {
  watched_mutex on;
  on.ours->hold();
  const auto entered = on.waiting(*on.theirs);
  const std::string all = with_kinds_of_ids(on.other.ask("participants mutex /x"));
  EXPECT_EQ(all, "_c_<uuid>-lock-0000000000 _c_<uuid>-lock-0000000001");
  EXPECT_TRUE(on.ours->release());
  entered.get();
  EXPECT_TRUE(on.theirs->release());
}

// Curator is not told, and its release ends nobody else's lock.
TEST_F(curator_administration, lock_of_curator_that_is_broken_goes_to_the_next) {
  watched_mutex on;
  on.theirs->hold();
  const auto entered = on.waiting(*on.ours);
  const auto all = on.admin.holders("x");
  ASSERT_EQ(all.size(), 1u);
  EXPECT_TRUE(on.admin.break_lock("x", all[0].owner));
  entered.get();
  EXPECT_TRUE(on.theirs->believes());
  EXPECT_TRUE(on.theirs->release());
  EXPECT_TRUE(on.ours->believes());
  EXPECT_TRUE(on.ours->release());
}

TEST_F(curator_administration, lock_of_ours_whose_node_is_deleted_is_lost) {
  watched_mutex on;
  on.ours->hold();
  const std::string node = "/x/" + on.other.names("/x");
  const auto entered = on.waiting(*on.theirs);
  EXPECT_EQ(on.other.ask("delete " + node), "");
  entered.get();
  EXPECT_TRUE(eventually([&] { return !on.ours->believes(); }));
  EXPECT_FALSE(on.ours->release());
  EXPECT_TRUE(on.theirs->believes());
  EXPECT_TRUE(on.theirs->release());
}

TEST_F(curator_administration, request_to_release_leaves_the_lock_with_its_holder) {
  watched_mutex on;
  on.ours->hold();
  const std::string node = "/x/" + on.other.names("/x");
  const auto entered = on.waiting(*on.theirs);
  EXPECT_EQ(on.other.ask("revoke " + node), "");
  EXPECT_EQ(on.other.ask("data " + node), "__REVOKE__");
  const auto all = on.admin.holders("x");
  ASSERT_EQ(all.size(), 1u);
  EXPECT_NE(node.find(all[0].owner), std::string::npos);
  EXPECT_EQ(all[0].host, "");
  EXPECT_TRUE(on.ours->believes());
  EXPECT_TRUE(is_pending(entered));
  EXPECT_TRUE(on.ours->release());
  entered.get();
  EXPECT_TRUE(on.theirs->release());
}

TEST_F(curator_administration, requests_to_release_reach_the_holder_in_both_directions) {
  watched_mutex on;
  peer_client curators{curator(), address_of(on.server)};
  const lease held = on.admin.mutex("ours").acquire();
  EXPECT_EQ(on.other.ask("revoke /ours/" + on.other.names("/ours")), "");
  EXPECT_TRUE(eventually([&] { return held.revocation_token().stop_requested(); }));
  EXPECT_TRUE(held.held());

  EXPECT_EQ(curators.ask("revocable mutex /theirs"), "");
  EXPECT_EQ(curators.ask("lock mutex /theirs"), "");
  const auto all = on.admin.holders("theirs");
  ASSERT_EQ(all.size(), 1u);
  EXPECT_TRUE(on.admin.break_lock("theirs", all[0].owner));
  EXPECT_EQ(curators.ask("revoked mutex /theirs"), "1");
}

}  // namespace
}  // namespace holdfast::zookeeper_wire
