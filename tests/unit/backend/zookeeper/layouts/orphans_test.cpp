// The removal of nodes that no claim waits for any more.
#include <string>

#include "tests/unit/backend/zookeeper/layouts/layout_fixture.hpp"

namespace holdfast::zookeeper_unit {
namespace {

using namespace std::chrono_literals;
using zookeeper::error;
using zookeeper::event_kind;

// Longer than the pause before a refused removal is repeated; the session is renewed meanwhile.
void pass_a_pause(layout_fixture& t) {
  t.pass(9s);
  t.attach_again();
  EXPECT_EQ(t.sent_again(), "");
  EXPECT_EQ(t.requests(), "");
  t.pass(1100ms);
}

// It has lost its lock, and the removal of its node is under way.
struct lost_holder : layout_fixture {
  lost_holder() {
    acquire();
    EXPECT_EQ(requests(), "create exists");
    const std::string own = own_name("0000000001");
    answer(5, created(own));
    answer(5, stat(1, 1, 5));
    EXPECT_EQ(told.take(), "granted 5");
    give(event(event_kind::deleted, node(own)));
    EXPECT_EQ(told.take(), "lost");
    EXPECT_EQ(requests(), "delete");
    EXPECT_NE(last_request.find(node(own)), std::string::npos);
  }
};

TEST(zookeeper_orphans, a_node_that_is_gone_is_not_removed_again) {
  for (const error code : {error::ok, error::no_node}) {
    lost_holder t;
    t.answer(6, code);
    pass_a_pause(t);
    EXPECT_EQ(t.requests(), "");
    t.move();
    EXPECT_EQ(t.sent_again(), "");
  }
}

TEST(zookeeper_orphans, a_removal_that_was_refused_is_repeated_after_a_pause) {
  lost_holder t;
  t.answer(6, error::no_auth);
  pass_a_pause(t);
  EXPECT_EQ(t.requests(), "delete");
  t.answer(7);
  t.move();
  EXPECT_EQ(t.sent_again(), "");
}

TEST(zookeeper_orphans, a_removal_without_a_reply_is_repeated_over_the_next_connection_alone) {
  lost_holder t;
  t.pass(300ms);
  EXPECT_EQ(t.requests(), "ping") << "the reply is overdue";
  t.move();
  EXPECT_EQ(t.sent_again(), "delete");
}

// The one attempt of this claim has ended, and its create was not answered.
struct unanswered_attempt : layout_fixture {
  explicit unanswered_attempt(const std::string& layout, const std::string& sent)
      : layout_fixture(layout + "&op-timeout=100ms") {
    claim->acquire({.one_attempt = true, .permits = 1, .total_permits = 1});
    EXPECT_EQ(requests(), sent);
    owner = claim->owner();
    pass(100ms);
    EXPECT_EQ(told.take(), "refused");
  }
  std::string owner;
};

TEST(zookeeper_orphans, a_create_without_a_reply_is_looked_for_by_its_guid) {
  unanswered_attempt t("layout=curator", "create exists");
  const std::string own = t.own_name("0000000002"), other = "_c_b-lock-0000000001";
  EXPECT_EQ(t.requests(), "sync list");
  t.answer(5, layout_fixture::created(own));
  t.answer(5, layout_fixture::stat(1, 2, 5));
  t.answer(6);
  t.answer(6, layout_fixture::children({other, own}));
  EXPECT_EQ(t.requests(), "delete");
  EXPECT_NE(t.last_request.find(own), std::string::npos);
  t.answer(7);
  t.move();
  EXPECT_EQ(t.sent_again(), "");
}

TEST(zookeeper_orphans, a_semaphores_create_without_a_reply_is_looked_for_in_both_folders) {
  unanswered_attempt t("layout=curator-semaphore", "create list exists");
  const std::string own = t.own_name("0000000002");
  EXPECT_EQ(t.requests(), "sync list sync list");
  t.answer(5, error::no_node);
  t.answer(5, error::no_node);
  t.answer(5, error::no_node);
  t.answer(6);
  t.answer(6, layout_fixture::children({own.substr(own.rfind('/') + 1)}));
  EXPECT_EQ(t.requests(), "delete");
  EXPECT_NE(t.last_request.find(own), std::string::npos);
  t.answer(6);
  t.answer(6, error::no_node);
  EXPECT_EQ(t.requests(), "");
}

TEST(zookeeper_orphans, a_node_that_is_the_lock_is_removed_only_if_this_attempt_made_it) {
  constexpr std::int64_t own_session = layout_fixture::session;
  const struct {
    bool has_own_guid;
    std::int64_t session;
    const char* removal;
  } cases[] = {{true, own_session, "delete"},
               {false, own_session, ""},
               {true, own_session + 1, ""}};
  for (const auto& c : cases) {
    unanswered_attempt t("layout=node&unsafe=1", "create watch");
    const std::string guid = c.has_own_guid ? t.owner : "11111111-89ab-4cde-8f00-000000000001";
    EXPECT_EQ(t.requests(), "sync watch");
    t.answer(5, error::node_exists);
    t.answer(5, layout_fixture::data(4, guid + " host 1", c.session));
    t.answer(6);
    t.answer(6, layout_fixture::data(4, guid + " host 1", c.session));
    EXPECT_EQ(t.requests(), c.removal);
  }
}

}  // namespace
}  // namespace holdfast::zookeeper_unit
