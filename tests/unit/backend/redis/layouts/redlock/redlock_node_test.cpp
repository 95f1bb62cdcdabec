// Warnings of a Redlock client about one of its servers.
#include <gtest/gtest.h>

#include "testkit/heard_warnings.hpp"
#include "testkit/thrown_by.hpp"
#include "tests/unit/backend/redis/layouts/redlock/three_servers.hpp"

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;

TEST(redlock_node, the_loss_of_a_server_is_a_warning_while_a_lock_is_held) {
  three_servers w;
  client c = w.open();
  for (const bool is_held : {false, true, false}) {
    testkit::heard_warnings heard;
    lease held;
    if (is_held) held = c.mutex("x").acquire();
    w.kill(w.third);
    w.pass(1s);
    EXPECT_EQ(heard.that_mention("the connection is lost"), is_held ? 1u : 0u) << heard.text();
    w.dead.clear();
    w.pass(70s);
  }
}

TEST(redlock_node, the_loss_of_a_server_is_a_warning_once_a_lock_is_wanted) {
  three_servers w;
  client c = w.open();
  w.kill(w.third);
  w.pass(1s);
  testkit::heard_warnings heard;
  lease held = c.mutex("x").acquire();
  w.pass(1s);
  EXPECT_EQ(heard.that_mention("the connection is lost"), 1u) << heard.text();
}

// It was restarted, and begins to vote when no lease from before can be valid.
TEST(redlock_node, a_server_that_may_vote_again_is_reported_without_a_request_for_a_lock) {
  three_servers w;
  client c = w.open("ttl=60s");
  testkit::heard_warnings heard;
  lease held = c.mutex("x").acquire({.renew = renewal::manual});
  w.third.restart(sim::kept::everything);
  w.pass(30s);
  held.extend(60s);
  EXPECT_EQ(heard.that_mention("temporarily refusing requests"), 1u) << heard.text();
  EXPECT_EQ(heard.that_mention("accepts requests again"), 0u) << heard.text();
  w.pass(50s);
  EXPECT_EQ(heard.that_mention("accepts requests again"), 1u) << heard.text();
}

// The time for it to be looked at passes while it is out of reach.
TEST(redlock_node, a_server_that_is_lost_before_it_may_vote_votes_later) {
  three_servers w;
  client c = w.open();
  w.third.restart(sim::kept::everything);
  w.pass(31s);
  w.kill(w.third);
  w.pass(40s);
  w.dead.clear();
  w.pass(70s);
  lease held = c.mutex("x").acquire();
  EXPECT_TRUE(w.third.string_at("x"));
}

// The connections for renewals are lost, and nothing shows that the name leads to the same servers.
TEST(redlock_node, a_server_is_asked_for_no_lock_while_it_may_have_been_replaced) {
  three_servers w;
  client c = w.open();
  lease held = w.held_by_hand(c.mutex("x"));
  w.refuses_connections = true;
  int cut = 0;
  w.changed = [&](std::string bytes) {
    const bool is_of_renewal = bytes.starts_with('*') && cut < 3;
    cut += is_of_renewal;
    return is_of_renewal ? std::string("this is no reply\r\n") : bytes;
  };
  std::error_code ec;
  held.extend(30s, ec);
  EXPECT_FALSE(c.mutex("y").try_acquire(ec));
  EXPECT_EQ(ec, errc::no_quorum);
  EXPECT_EQ(w.servers_with("y"), 0u);
  w.changed = nullptr;
}

TEST(redlock_node, servers_without_a_right_keep_a_client_from_opening) {
  three_servers w;
  for (sim::model_redis* const s : {&w.second, &w.third}) s->forbid("hmget");
  EXPECT_EQ(testkit::thrown_by([&] { w.open(); }), errc::no_quorum);
}

TEST(redlock_node, a_server_that_refused_and_was_lost_is_reported_as_lost) {
  three_servers w;
  w.second.forbid("hmget");
  w.stopped = {&w.third};
  w.at(10ms, [&] { w.kill(w.second); });
  w.at(20ms, [&] { w.kill(w.third); });
  w.at(30ms, [&] { w.stopped.clear(); });
  try {
    w.open();
    FAIL() << "it is open";
  } catch (const lock_error& e) {
    EXPECT_NE(std::string_view(e.what()).find("second:6379 (it is closed)"), std::string_view::npos)
        << e.what();
  }
}

TEST(redlock_node, a_diagnosis_names_the_server_that_lacks_a_right) {
  three_servers w;
  w.third.forbid("hincrby");
  const std::vector<finding> found = w.open().diagnose();
  EXPECT_TRUE(std::ranges::any_of(found, [](const finding& f) {
    return f.what == "rights" && f.grade != finding_grade::good && f.why.starts_with("third:6379");
  }));
}

// None shows a run_id, by which it could be known again.
TEST(redlock_node, servers_without_a_name_are_not_one_server) {
  three_servers w;
  w.changed = [](std::string bytes) {
    for (auto at = bytes.find("run_id:"); at != bytes.npos; at = bytes.find("run_id:", at))
      bytes.replace(at, 3, "not");
    return bytes;
  };
  EXPECT_TRUE(w.open().mutex("x").try_acquire());
  w.changed = nullptr;
}

}  // namespace
}  // namespace holdfast::redis
