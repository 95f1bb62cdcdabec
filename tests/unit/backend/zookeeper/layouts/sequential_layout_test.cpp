// The layout's reaction to unusual replies and events of a server.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "tests/unit/backend/zookeeper/layouts/layout_fixture.hpp"

namespace holdfast::zookeeper_unit {
namespace {

using zookeeper::error;
using zookeeper::event_kind;

const std::string predecessor = "_c_a-lock-0000000001";

// Its create was executed as transaction 5, and those nodes stand before it.
struct queued : layout_fixture {
  queued(std::vector<std::string> nodes, const std::string& watches) {
    acquire();
    EXPECT_EQ(requests(), "create exists");
    own = own_name("0000000002");
    nodes.push_back(own);
    answer(5, created(own));
    answer(5, stat(1, static_cast<std::int32_t>(nodes.size()), 5));
    EXPECT_EQ(requests(), "list");
    answer(5, children(nodes));
    EXPECT_EQ(requests(), watches);
  }
  std::string own;
};

struct behind_another : queued {
  behind_another() : queued({predecessor}, "watch watch") {}
  void be_granted() {
    answer(5, data(3));
    answer(5, data(5));
    give(event(event_kind::deleted, node(predecessor)));
    EXPECT_EQ(told.take(), "granted 5");
  }
};

TEST(zookeeper_sequential_layout, one_that_is_alone_is_granted_under_its_own_transaction) {
  layout_fixture t;
  t.acquire();
  EXPECT_EQ(t.requests(), "create exists");
  t.answer(5, layout_fixture::created(t.own_name("0000000001")));
  t.answer(9, layout_fixture::stat(1, 1, 5));
  EXPECT_EQ(t.told.take(), "granted 5");
}

TEST(zookeeper_sequential_layout, a_holder_that_saw_no_others_is_told_of_those_behind_it) {
  layout_fixture t;
  t.acquire();
  EXPECT_EQ(t.requests(), "create exists");
  const std::string own = t.own_name("0000000001");
  t.answer(5, layout_fixture::created(own));
  t.answer(9, layout_fixture::stat(1, 1, 5));
  EXPECT_EQ(t.told.take(), "granted 5");
  t.claim->check_waiters();
  EXPECT_EQ(t.requests(), "list");
  t.answer(10, layout_fixture::children({own, "_c_b-lock-0000000002"}));
  EXPECT_EQ(t.told.take(), "wanted");
}

// Its node was removed, and another's is there.
TEST(zookeeper_sequential_layout, one_child_that_is_not_its_own_is_looked_at) {
  layout_fixture t;
  t.acquire();
  EXPECT_EQ(t.requests(), "create exists");
  t.answer(5, layout_fixture::created(t.own_name("0000000001")));
  t.answer(9, layout_fixture::stat(1, 1, 8));
  EXPECT_EQ(t.told.take(), "");
  EXPECT_EQ(t.requests(), "list");
  t.answer(9, layout_fixture::children({"_c_b-lock-0000000002"}));
  EXPECT_EQ(t.told.take(), "");
  EXPECT_EQ(t.requests(), "create exists");
}

// The server removes a parent that is empty, also between two creates of one write.
TEST(zookeeper_sequential_layout, the_parent_is_made_again_when_it_was_removed_meanwhile) {
  layout_fixture t;
  t.acquire();
  EXPECT_EQ(t.requests(), "create exists");
  t.answer(5, error::no_node);
  t.answer(5, error::no_node);
  EXPECT_EQ(t.requests(), "container create exists");
  t.answer(6, error::node_exists);
  t.answer(7, error::no_node);
  t.answer(7, error::no_node);
  EXPECT_EQ(t.told.take(), "");
  EXPECT_EQ(t.requests(), "container create exists");
}

TEST(zookeeper_sequential_layout, the_parent_is_made_when_it_is_missing) {
  for (const error made : {error::ok, error::node_exists}) {  // or another client was faster
    layout_fixture t;
    t.acquire();
    EXPECT_EQ(t.requests(), "create exists");
    t.answer(5, error::no_node);
    t.answer(5, error::no_node);
    EXPECT_EQ(t.requests(), "container create exists");
    t.answer(6, made);
    t.answer(7, layout_fixture::created(t.own_name("0000000001")));
    t.answer(7, layout_fixture::stat(1, 1, 7));
    EXPECT_EQ(t.told.take(), "granted 7");
  }
}

TEST(zookeeper_sequential_layout, the_end_of_the_node_before_grants) {
  behind_another t;
  t.be_granted();
}

// What ended had been made again after the own node: who stood there before may hold still.
TEST(zookeeper_sequential_layout, the_end_of_a_younger_node_grants_nothing) {
  behind_another t;
  t.answer(9, behind_another::data(9));
  t.answer(9, behind_another::data(5));
  t.give(event(event_kind::deleted, behind_another::node(predecessor)));
  EXPECT_EQ(t.told.take(), "");
  EXPECT_EQ(t.requests(), "list");
}

TEST(zookeeper_sequential_layout, a_change_of_the_node_before_grants_nothing) {
  behind_another t;
  t.answer(5, behind_another::data(3));
  t.answer(5, behind_another::data(5));
  t.give(event(event_kind::data, behind_another::node(predecessor)));
  EXPECT_EQ(t.told.take(), "");
  EXPECT_EQ(t.requests(), "list");
}

TEST(zookeeper_sequential_layout, after_the_session_has_moved_an_event_grants_nothing) {
  behind_another t;
  t.answer(5, behind_another::data(3));
  t.answer(5, behind_another::data(5));
  t.move();
  t.give(event(event_kind::deleted, behind_another::node(predecessor)));
  EXPECT_EQ(t.told.take(), "");
  EXPECT_EQ(t.requests(), "list");
  t.answer(10, behind_another::children({t.own}));
  EXPECT_EQ(t.told.take(), "granted 5");
}

// Behind four, of which it watches the three that are nearest, and its own node.
struct behind_four : queued {
  behind_four() : queued({nodes.begin(), nodes.end()}, "watch watch watch watch") {
    for (int i = 0; i < 3; ++i) answer(5, data(1 + i));
    answer(5, data(5));
  }
  void ends(std::size_t which) { give(event(event_kind::deleted, node(nodes[which]))); }

  static inline const std::array<std::string, 4> nodes{"_c_w-lock--000000001",
                                                       "_c_x-lock-0000000000",
                                                       "_c_y-lock-0000000000", predecessor};
};

TEST(zookeeper_sequential_layout, a_waiter_that_knows_all_ahead_is_granted_without_another_list) {
  behind_four t;
  t.ends(1);
  EXPECT_EQ(t.requests(), "list");
  t.answer(6, behind_four::children({t.own, t.nodes[2], t.nodes[3]}));
  EXPECT_EQ(t.requests(), "");
  t.ends(3);
  EXPECT_EQ(t.told.take(), "") << "one that gave up waiting";
  t.ends(2);
  EXPECT_EQ(t.told.take(), "granted 5");
  EXPECT_EQ(t.requests(), "");
}

TEST(zookeeper_sequential_layout, a_list_that_shows_nothing_ahead_grants) {
  behind_four t;
  t.ends(1);
  EXPECT_EQ(t.requests(), "list");
  t.ends(2);
  t.ends(3);
  EXPECT_EQ(t.told.take(), "");
  t.answer(7, behind_four::children({t.own}));
  EXPECT_EQ(t.told.take(), "granted 5");
}

// It gave up while another one holds the lock.
TEST(zookeeper_sequential_layout, a_farthest_that_gave_up_is_followed_by_another) {
  behind_four t;
  t.ends(1);
  EXPECT_EQ(t.requests(), "list");
  t.answer(6, behind_four::children({t.own, t.nodes[3], t.nodes[2], t.nodes[0]}));
  EXPECT_EQ(t.requests(), "watch watch");
  t.answer(6, behind_four::data(1));
  t.answer(6, behind_four::data(5));
  t.ends(2);
  t.ends(3);
  EXPECT_EQ(t.told.take(), "") << "the holder is still there";
  t.ends(0);
  EXPECT_EQ(t.told.take(), "granted 5");
}

TEST(zookeeper_sequential_layout, those_ahead_that_end_before_they_are_watched_grant) {
  behind_another t;
  t.answer(6, error::no_node);
  EXPECT_EQ(t.told.take(), "");
  t.answer(6, behind_another::data(5));
  EXPECT_EQ(t.told.take(), "granted 5");
}

TEST(zookeeper_sequential_layout, a_claim_that_met_others_lists_in_the_flight_of_its_create) {
  behind_another t;
  t.be_granted();
  t.claim->release(nullptr);
  EXPECT_EQ(t.requests(), "delete");
  t.answer(6);
  EXPECT_EQ(t.told.take(), "ended");
  t.acquire();
  EXPECT_EQ(t.requests(), "create list");
  const std::string again = t.own_name("0000000003");
  t.answer(7, layout_fixture::created(again));
  t.answer(7, layout_fixture::children({again}));
  EXPECT_EQ(t.told.take(), "granted 7");
}

TEST(zookeeper_sequential_layout, a_node_whose_name_is_not_known_yet_is_found_and_then_removed) {
  layout_fixture t;
  t.acquire();
  EXPECT_EQ(t.requests(), "create exists");
  const std::string own = t.own_name("0000000002");
  t.claim->cancel();
  EXPECT_EQ(t.requests(), "sync list");
  t.answer(5, layout_fixture::created(own));
  t.answer(5, layout_fixture::stat(1, 2, 5));
  t.answer(6);
  t.answer(6, layout_fixture::children({predecessor, own}));
  EXPECT_EQ(t.requests(), "delete");
  t.answer(7);
  EXPECT_EQ(t.told.take(), "ended");
}

// A create whose reply was lost.
struct unanswered_create : layout_fixture {
  unanswered_create() {
    acquire();
    EXPECT_EQ(requests(), "create exists");
    own = own_name("0000000001");
    move();
    EXPECT_EQ(sent_again(), "sync list");
    answer(10);
  }
  std::string own;
};

TEST(zookeeper_sequential_layout, a_create_without_a_reply_is_found_by_its_guid) {
  unanswered_create t;
  t.answer(10, unanswered_create::children({t.own, "_c_b-lock-0000000002"}));
  EXPECT_EQ(t.requests(), "exists");
  t.answer(10, unanswered_create::stat(6));
  EXPECT_EQ(t.told.take(), "granted 6");
}

TEST(zookeeper_sequential_layout, a_create_that_was_not_executed_is_made_again) {
  unanswered_create t;
  t.answer(10, unanswered_create::children({"_c_b-lock-0000000002"}));
  EXPECT_EQ(t.requests(), "create exists");
  EXPECT_NE(t.own_name("0000000001"), t.own) << "under another GUID: the old one may still come";
}

// CURATOR-498: the node of a session that is about to end.
TEST(zookeeper_sequential_layout, a_node_of_another_session_is_not_adopted) {
  unanswered_create t;
  t.answer(10, unanswered_create::children({t.own}));
  EXPECT_EQ(t.requests(), "exists");
  t.answer(10, unanswered_create::stat(6, 0, 0, layout_fixture::session + 1));
  EXPECT_EQ(t.told.take(), "");
  EXPECT_EQ(t.requests(), "create exists");
}

TEST(zookeeper_sequential_layout, a_request_that_a_waiter_was_sent_is_reported_with_the_grant) {
  behind_another t;
  t.answer(5, behind_another::data(3));
  t.answer(6, behind_another::data(5, "__REVOKE__"));
  t.give(event(event_kind::deleted, behind_another::node(predecessor)));
  EXPECT_EQ(t.told.take(), "granted 5, asked");
}

struct downgrading_writer : layout_fixture {
  downgrading_writer() : layout_fixture("layout=curator-rw") {
    acquire();
    EXPECT_EQ(requests(), "create exists");
    answer(5, created(own_name("0000000007")));
    answer(5, stat(1, 1, 5));
    EXPECT_EQ(told.take(), "granted 5");
    guid = own_name("");
    guid.resize(guid.rfind("__WRIT__"));
    claim->downgrade();
    EXPECT_EQ(requests(), "multi watch");
  }
  std::string reader() const { return guid + "__READ__0000000007"; }
  std::string guid;  // and what stands before it
};

// Before its watch is set, and after that.
TEST(zookeeper_sequential_layout, a_downgraded_writer_is_told_what_happens_to_its_next_node) {
  downgrading_writer asked;
  asked.answer(6, downgrading_writer::replaced_by(asked.reader()));
  asked.answer(7, downgrading_writer::data(6, "__REVOKE__"));
  EXPECT_EQ(asked.told.take(), "asked");
  EXPECT_EQ(asked.claim->owner(), asked.reader());

  downgrading_writer removed;
  removed.answer(6, downgrading_writer::replaced_by(removed.reader()));
  removed.answer(6, downgrading_writer::data(6));
  EXPECT_EQ(removed.told.take(), "");
  removed.give(event(event_kind::deleted, downgrading_writer::node(removed.reader())));
  EXPECT_EQ(removed.told.take(), "lost");

  downgrading_writer at_once;
  at_once.answer(6, downgrading_writer::replaced_by(at_once.reader()));
  at_once.answer(7, error::no_node);
  EXPECT_EQ(at_once.told.take(), "lost");
}

TEST(zookeeper_sequential_layout, a_downgraded_writer_removes_its_next_node) {
  downgrading_writer t;
  t.answer(6, downgrading_writer::replaced_by(t.reader()));
  t.answer(6, downgrading_writer::data(6));
  t.claim->release(nullptr);
  EXPECT_EQ(t.requests(), "delete");
  EXPECT_NE(t.last_request.find(t.reader()), std::string::npos);

  downgrading_writer unanswered;
  unanswered.claim->release(nullptr);
  EXPECT_EQ(unanswered.requests(), "delete delete") << "either node may be there";
}

struct released : behind_another {
  released() {
    be_granted();
    claim->release(nullptr);
    EXPECT_EQ(requests(), "delete");
  }
};

TEST(zookeeper_sequential_layout, a_release_without_the_right_to_it_reports_that) {
  released t;
  t.answer(6, error::no_auth);
  EXPECT_EQ(t.told.take(), "ended");
  EXPECT_EQ(t.told.why.code, errc::refused);
}

TEST(zookeeper_sequential_layout, a_release_finds_out_that_its_node_was_removed) {
  released t;
  t.answer(6, error::no_node);
  EXPECT_EQ(t.told.take(), "ended");
  EXPECT_EQ(t.told.why.code, errc::not_held);
}

TEST(zookeeper_sequential_layout, transactions_that_went_back_are_refused) {
  layout_fixture t;
  t.acquire();
  EXPECT_EQ(t.requests(), "create exists");
  t.answer(5, layout_fixture::created(t.own_name("0000000001")));
  t.answer(5, layout_fixture::stat(1, 1, 5));
  EXPECT_EQ(t.told.take(), "granted 5");
  t.claim->release(nullptr);
  EXPECT_EQ(t.requests(), "delete");
  t.answer(6);
  EXPECT_EQ(t.told.take(), "ended");
  t.acquire();
  EXPECT_EQ(t.requests(), "create exists");
  t.answer(4, layout_fixture::created(t.own_name("0000000001")));
  t.answer(4, layout_fixture::stat(1, 1, 4));
  EXPECT_EQ(t.told.take(), "refused");
}

TEST(zookeeper_sequential_layout, a_create_that_is_refused_names_the_node_and_the_rights) {
  layout_fixture t;
  t.acquire();
  EXPECT_EQ(t.requests(), "create exists");
  t.answer(5, error::no_auth);
  t.answer(5, error::no_node);
  EXPECT_EQ(t.told.take(), "refused");
  EXPECT_TRUE(t.told.why.text.starts_with("the ACL of /x refuses this user")) << t.told.why.text;
}

TEST(zookeeper_sequential_layout, replies_to_a_claim_that_was_destroyed_are_dropped) {
  layout_fixture creating;
  creating.acquire();
  EXPECT_EQ(creating.requests(), "create exists");
  creating.claim.reset();
  creating.answer(5, error::no_auth);
  creating.answer(5, error::no_node);

  behind_another watching;
  watching.claim.reset();
  watching.answer(5, behind_another::data(3));
  watching.answer(5, behind_another::data(5));
  EXPECT_EQ(watching.requests(), "");

  layout_fixture leaving;
  leaving.acquire();
  EXPECT_EQ(leaving.requests(), "create exists");
  leaving.claim->cancel();
  EXPECT_EQ(leaving.requests(), "sync list");
  leaving.claim.reset();
  for (int i = 0; i < 3; ++i) leaving.answer(5, error::no_node);
  leaving.answer(6, layout_fixture::children({leaving.own_name("0000000002")}));

  behind_another checking;
  checking.be_granted();
  checking.claim->check_waiters();
  EXPECT_EQ(checking.requests(), "list");
  checking.claim.reset();
  checking.answer(10, behind_another::children({checking.own}));
}

TEST(zookeeper_sequential_layout, a_holder_takes_no_malformed_list_for_waiters) {
  behind_another t;
  t.be_granted();
  t.claim->check_waiters();
  EXPECT_EQ(t.requests(), "list");
  t.answer(10, "x");
  EXPECT_EQ(t.told.take(), "");
}

// The codes of the create and of the delete.
std::string failed_multi(error create, error remove) {
  std::string out;
  zookeeper::jute_writer w(out);
  for (const error code : {create, remove}) {
    const auto number = static_cast<std::int32_t>(code);
    w.write_int(-1).write_bool(false).write_int(number).write_int(number);
  }
  w.write_int(-1).write_bool(true).write_int(-1);
  return out;
}

TEST(zookeeper_sequential_layout, a_writer_that_may_not_downgrade_still_holds) {
  downgrading_writer refused;
  refused.answer(6, failed_multi(error::no_auth, error::runtime_inconsistency));
  refused.answer(6, error::no_node);
  EXPECT_EQ(refused.told.take(), "");
  EXPECT_EQ(refused.requests(), "watch");

  downgrading_writer removed;
  removed.answer(6, failed_multi(error::ok, error::no_node));
  removed.answer(6, error::no_node);
  EXPECT_EQ(removed.told.take(), "lost") << "its node was removed before";
}

}  // namespace
}  // namespace holdfast::zookeeper_unit
