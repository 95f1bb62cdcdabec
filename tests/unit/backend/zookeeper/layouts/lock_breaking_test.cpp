// Breaking a lock: the holder is asked by the data of its node, and its node is removed after the
// revocation-timeout.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>

#include "tests/unit/backend/zookeeper/layouts/layout_fixture.hpp"

namespace holdfast::zookeeper_unit {
namespace {

using namespace std::chrono_literals;

const std::string held_node = "_c_a-lock-0000000001", next_node = "_c_b-lock-0000000002";

struct break_decision final : seam::decision_handler {
  void on_result(bool b) override { result = b; }
  void on_failed(base::failure f) override { why = std::move(f); }

  std::optional<bool> result;
  base::failure why;
};

// Up to the requests that follow the list of the nodes.
std::string begin_breaking(layout_fixture& t, break_decision& to,
                           const std::string& seen = held_node) {
  t.layout().break_lock("job", seen, to);
  EXPECT_EQ(t.requests(), "sync list");
  t.answer(5);
  t.answer(5, layout_fixture::children({next_node, held_node}));
  return t.requests();
}

TEST(zookeeper_lock_breaking, removes_the_node_at_once_without_a_revocation_timeout) {
  break_decision to;
  layout_fixture t("revocation-timeout=0s");
  EXPECT_EQ(begin_breaking(t, to), "delete");
  EXPECT_NE(t.last_request.find("/job/" + held_node), std::string::npos);
  EXPECT_FALSE(to.result);
  t.answer(6);
  EXPECT_EQ(to.result, true);
}

TEST(zookeeper_lock_breaking, leaves_the_node_of_a_waiter_and_of_another_holder) {
  for (const std::string& seen : {next_node, std::string("_c_c-lock-0000000000")}) {
    break_decision to;
    layout_fixture t("revocation-timeout=0s");
    EXPECT_EQ(begin_breaking(t, to, seen), "");
    EXPECT_EQ(to.result, false);
  }
}

TEST(zookeeper_lock_breaking, of_a_lock_without_nodes_breaks_nothing) {
  break_decision to;
  layout_fixture t;
  t.layout().break_lock("job", held_node, to);
  EXPECT_EQ(t.requests(), "sync list");
  t.answer(5);
  t.answer(5, zookeeper::error::no_node);
  EXPECT_EQ(to.result, false);
}

TEST(zookeeper_lock_breaking, has_broken_a_lock_whose_node_is_gone_when_it_is_removed) {
  break_decision to;
  layout_fixture t("revocation-timeout=0s");
  EXPECT_EQ(begin_breaking(t, to), "delete");
  t.answer(6, zookeeper::error::no_node);
  EXPECT_EQ(to.result, true);
}

TEST(zookeeper_lock_breaking, waits_for_the_end_of_the_node_of_a_holder_that_was_asked) {
  break_decision to;
  layout_fixture t;
  EXPECT_EQ(begin_breaking(t, to), "5 watch") << "5 sets the data of the node";
  t.answer(6, layout_fixture::stat(1));
  t.answer(6, layout_fixture::data(1));
  EXPECT_EQ(t.requests(), "");
  EXPECT_FALSE(to.result);
  t.give(event(zookeeper::event_kind::deleted, "/job/" + held_node));
  EXPECT_EQ(to.result, true);
  EXPECT_EQ(t.requests(), "");
}

TEST(zookeeper_lock_breaking, removes_the_node_after_the_revocation_timeout) {
  break_decision to;
  layout_fixture t;
  EXPECT_EQ(begin_breaking(t, to), "5 watch");
  t.answer(6, layout_fixture::stat(1));
  t.answer(6, layout_fixture::data(1));
  t.give(event(zookeeper::event_kind::data, "/job/" + held_node));
  EXPECT_EQ(t.requests(), "watch") << "a change of its data is not its end";
  t.answer(7, layout_fixture::data(1));
  t.pass(1s - 1ms);
  EXPECT_EQ(t.requests(), "");
  t.pass(1ms);
  EXPECT_EQ(t.requests(), "delete");
  EXPECT_FALSE(to.result);
  t.answer(8);
  EXPECT_EQ(to.result, true);
}

TEST(zookeeper_lock_breaking, removes_a_node_whose_holder_cannot_be_asked) {
  break_decision to;
  layout_fixture t;
  EXPECT_EQ(begin_breaking(t, to), "5 watch");
  t.answer(6, zookeeper::error::no_auth);
  EXPECT_EQ(t.requests(), "delete");
  t.answer(6, layout_fixture::data(1));
  t.answer(7);
  EXPECT_EQ(to.result, true);
}

TEST(zookeeper_lock_breaking, that_is_not_allowed_names_the_missing_right) {
  break_decision to;
  layout_fixture t("revocation-timeout=0s");
  EXPECT_EQ(begin_breaking(t, to), "delete");
  t.answer(6, zookeeper::error::no_auth);
  EXPECT_FALSE(to.result);
  EXPECT_EQ(to.why.code, errc::refused);
  EXPECT_NE(to.why.text.find("the ACL of /job refuses this user"), std::string::npos)
      << to.why.text;
}

TEST(zookeeper_lock_breaking, fails_when_one_of_the_holders_leases_may_not_be_removed) {
  break_decision to;
  layout_fixture t("layout=curator-semaphore&revocation-timeout=0s");
  t.layout().break_lock("job", "_c_a", to);
  EXPECT_EQ(t.requests(), "sync list");
  t.answer(5);
  t.answer(5, layout_fixture::children({"_c_a-lease-0000000001", "_c_a-lease-0000000002"}));
  EXPECT_EQ(t.requests(), "delete delete");
  t.answer(6);
  t.answer(6, zookeeper::error::no_auth);
  EXPECT_FALSE(to.result);
  EXPECT_EQ(to.why.code, errc::refused);
}

TEST(zookeeper_lock_breaking, ends_with_the_client) {
  break_decision to;
  {
    layout_fixture t;
    EXPECT_EQ(begin_breaking(t, to), "5 watch");
    t.answer(6, layout_fixture::stat(1));
    t.answer(6, layout_fixture::data(1));
  }
  EXPECT_FALSE(to.result);
  EXPECT_EQ(to.why.code, errc::closed);
}

TEST(zookeeper_lock_breaking, ends_after_the_op_timeout_without_an_answer) {
  break_decision to;
  layout_fixture t("op-timeout=2s");
  t.layout().break_lock("job", held_node, to);
  EXPECT_EQ(t.requests(), "sync list");
  t.pass(2s - 1ms);
  EXPECT_FALSE(to.why.code);
  t.pass(1ms);
  EXPECT_EQ(to.why.code, errc::unavailable);
  EXPECT_EQ(to.why.text, "no answer within the op-timeout");
  t.answer(5);  // too late
  t.answer(5, layout_fixture::children({held_node}));
  EXPECT_FALSE(to.result);
}

}  // namespace
}  // namespace holdfast::zookeeper_unit
