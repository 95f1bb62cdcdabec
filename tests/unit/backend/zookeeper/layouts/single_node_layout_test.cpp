// A claim of layout `node`, and the replies of its server.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/backend/zookeeper/layouts/layout_fixture.hpp"

namespace holdfast::zookeeper_unit {
namespace {

using namespace std::chrono_literals;
using zookeeper::error;
using zookeeper::event_kind;

// Its create was sent, with a look at the node.
struct node_claim : layout_fixture {
  node_claim() : layout_fixture("layout=node&unsafe=1") {
    acquire();
    EXPECT_EQ(requests(), "create watch");
    guid = claim->owner();
  }
  std::string own_data(std::int64_t czxid) const { return data(czxid, guid + " host 1"); }
  void be_granted() {
    answer(5);
    answer(5, own_data(5));
    EXPECT_EQ(told.take(), "granted 5");
  }
  static std::string other_data() {
    return data(4, "11111111-89ab-4cde-8f00-000000000001 host 1", session + 1);
  }
  std::string guid;
};

TEST(zookeeper_single_node_layout, the_claim_that_made_the_node_is_granted) {
  node_claim t;
  t.be_granted();
}

TEST(zookeeper_single_node_layout, a_claim_that_finds_the_node_of_another_waits_for_its_end) {
  node_claim t;
  t.answer(5, error::node_exists);
  t.answer(5, node_claim::other_data());
  EXPECT_EQ(t.told.take(), "");
  t.give(event(event_kind::deleted, "/x"));
  EXPECT_EQ(t.requests(), "create watch");
}

TEST(zookeeper_single_node_layout, a_node_that_ends_before_it_is_looked_at_is_created_again) {
  node_claim t;
  t.answer(5, error::node_exists);
  t.answer(5, error::no_node);
  EXPECT_EQ(t.requests(), "create watch");
}

TEST(zookeeper_single_node_layout, a_claim_that_no_longer_waits_creates_nothing) {
  node_claim t;
  t.answer(5, error::node_exists);
  t.answer(5, node_claim::other_data());
  t.claim->cancel();
  EXPECT_EQ(t.told.take(), "ended");
  t.give(event(event_kind::deleted, "/x"));
  EXPECT_EQ(t.requests(), "");
}

TEST(zookeeper_single_node_layout, a_node_that_is_not_ephemeral_is_no_lock_of_it) {
  node_claim t;
  t.answer(5, error::node_exists);
  t.answer(5, layout_fixture::data(4, "", 0));
  EXPECT_EQ(t.told.take(), "refused");
  EXPECT_EQ(t.told.why.code, errc::mismatch);
}

TEST(zookeeper_single_node_layout, a_create_without_a_reply_is_found_and_granted_by_its_number) {
  node_claim t;
  t.move();
  EXPECT_EQ(t.sent_again(), "sync watch");
  t.answer(8);
  t.answer(8, t.own_data(6));
  EXPECT_EQ(t.told.take(), "granted 6");
}

TEST(zookeeper_single_node_layout, a_release_deletes_the_node) {
  node_claim t;
  t.be_granted();
  t.claim->release(nullptr);
  EXPECT_EQ(t.requests(), "delete");
  t.answer(6);
  EXPECT_EQ(t.told.take(), "ended");
  EXPECT_FALSE(t.told.why.code);
}

// It gives up before its create was answered: by then the node may be that of another.
struct canceled_node_claim : node_claim {
  canceled_node_claim() {
    claim->cancel();
    EXPECT_EQ(requests(), "sync watch");
    answer(5, error::node_exists);
    answer(5, other_data());
    answer(6);
  }
};

TEST(zookeeper_single_node_layout, a_claim_that_gives_up_removes_the_node_that_it_finds_its_own) {
  canceled_node_claim t;
  t.answer(6, t.own_data(6));
  EXPECT_EQ(t.told.take(), "");
  EXPECT_EQ(t.requests(), "delete");
  t.answer(7);
  EXPECT_EQ(t.told.take(), "ended");
}

TEST(zookeeper_single_node_layout, a_claim_that_gives_up_leaves_the_node_of_another) {
  canceled_node_claim t;
  t.answer(6, node_claim::other_data());
  EXPECT_EQ(t.requests(), "");
  EXPECT_EQ(t.told.take(), "ended");
}

TEST(zookeeper_single_node_layout, a_reply_to_a_destroyed_claim_is_dropped) {
  canceled_node_claim t;
  t.claim.reset();
  t.answer(6, t.own_data(6));
  EXPECT_EQ(t.requests(), "");
}

TEST(zookeeper_single_node_layout, a_claim_that_gives_up_looks_again_after_a_malformed_reply) {
  canceled_node_claim t;
  t.answer(6, "x");
  EXPECT_EQ(t.told.take(), "");
  t.pass(50ms);
  EXPECT_EQ(t.requests(), "sync watch");
}

TEST(zookeeper_single_node_layout, the_owner_of_the_node_is_shown_as_the_holder) {
  const std::string guid = "11111111-89ab-4cde-8f00-000000000001";
  for (const std::int64_t owner : {layout_fixture::session, std::int64_t{0}}) {
    shown_holders to;
    layout_fixture t("layout=node&unsafe=1");
    t.layout().holders("job", to);
    EXPECT_EQ(t.requests(), "sync watch");
    t.answer(5);
    t.answer(5, layout_fixture::data(9, guid + " web7 12 a note", owner));
    ASSERT_TRUE(to.result);
    if (owner == 0) {
      EXPECT_TRUE(to.result->empty()) << "a node that is not ephemeral is no lock";
      continue;
    }
    ASSERT_EQ(to.result->size(), 1u);
    EXPECT_EQ(to.result->front().owner, guid);
    EXPECT_EQ(to.result->front().host, "web7");
  }
}

}  // namespace
}  // namespace holdfast::zookeeper_unit
