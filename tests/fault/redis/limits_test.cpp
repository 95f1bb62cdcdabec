// A server at one of its limits, or at the hands of its administrator.
#include <algorithm>
#include <set>
#include <sstream>

#include "fixture.hpp"

namespace holdfast::redis_test {
namespace {

class redis_server_limits : public on_redis {};

TEST_F(redis_server_limits,
       a_stopped_server_is_told_in_bounds_and_nothing_is_left_when_it_goes_on) {
  redis_server server;
  const auto c = client::open(server.url() + quick_with("ttl=10m"));
  const auto other = client::open(server.url() + quick);
  auto held = other.mutex("y").acquire();
  server.stop();
  const auto t = told_by([&] { (void)c.mutex("x").try_acquire(); });
  EXPECT_EQ(t.code, outcome::unavailable) << t.text;
  EXPECT_LT(t.took, in_bounds);
  // It still takes connections, which prove nothing.
  const auto opened = told_by([&] { (void)client::open(server.url() + "?op-timeout=300ms"); });
  EXPECT_EQ(opened.code, outcome::unavailable) << opened.text;
  EXPECT_LT(opened.took, in_bounds);
  server.go_on();
  EXPECT_TRUE(eventually([&] { return server.command({"EXISTS", "x"}).number == 0; }));
  EXPECT_TRUE(held.held());
  held.release();
  c.mutex("x").acquire().release();
}

TEST_F(redis_server_limits, no_room_for_another_client_is_reported) {
  redis_server server;
  const auto c = client::open(server.url() + quick);
  server.command({"CONFIG", "SET", "maxclients", "2"});
  const auto t =
      told_by([&] { (void)client::open(server.url() + quick).mutex("x").try_acquire(); });
  EXPECT_EQ(t.code, outcome::unavailable) << t.text;
  EXPECT_LT(t.took, in_bounds);
  EXPECT_NE(t.text.find("clients"), std::string::npos) << t.text;
}

// One connection for commands and one for messages are left to it, and the third is this test's.
TEST_F(redis_server_limits, a_lock_is_renewed_where_the_server_takes_no_third_connection) {
  redis_server server;
  const auto c = client::open(server.url() + "?ttl=6s");
  const auto has = [&](const char* connection) {
    return server.command({"CLIENT", "LIST"}).text.find(connection) != std::string::npos;
  };
  EXPECT_TRUE(eventually([&] { return has("holdfast-messages"); }));
  server.command({"CONFIG", "SET", "maxclients", "3"});
  auto held = c.mutex("x").acquire();
  auto share = c.shared_mutex("y").acquire_shared();
  const auto first = std::max(held.expires(), share.expires());
  const auto both = [&] { return std::min(held.expires(), share.expires()) > first + 4s; };
  const auto one_is_lost = [&] {
    return held.loss_token().stop_requested() || share.loss_token().stop_requested();
  };
  EXPECT_TRUE(eventually([&] { return both() || one_is_lost(); }));
  EXPECT_FALSE(one_is_lost());
  EXPECT_FALSE(has("holdfast-renewals"));
  server.command({"CONFIG", "SET", "maxclients", "100"});
  EXPECT_TRUE(eventually([&] { return has("holdfast-renewals"); }));
  EXPECT_TRUE(held.held() && share.held());
}

// The ids of those that are for commands.
std::set<std::string> commands_connections(redis_server& server) {
  std::set<std::string> ids;
  std::istringstream lines(server.command({"CLIENT", "LIST", "TYPE", "normal"}).text);
  for (std::string line; std::getline(lines, line);)
    if (line.find(" name=holdfast-commands ") != line.npos)
      ids.insert(line.substr(0, line.find(' ')));
  return ids;
}

TEST_F(redis_server_limits, idle_connections_that_the_server_ends_are_not_missed) {
  redis_server server({.config = {"timeout 3"}});
  const auto c = client::open(server.url() + quick_with("ttl=6s"));
  const auto other = client::open(server.url() + quick);
  auto held = c.mutex("x").acquire();
  const auto first = commands_connections(server);
  EXPECT_EQ(first.size(), 2u);
  EXPECT_TRUE(eventually([&] {  // they may have successors by then
    const auto now = commands_connections(server);
    return std::ranges::none_of(first, [&](const auto& id) { return now.contains(id); });
  }));
  EXPECT_TRUE(held.held());
  EXPECT_FALSE(other.mutex("x").try_acquire());
  held.release();
  EXPECT_TRUE(other.mutex("x").try_acquire());
}

TEST_F(redis_server_limits, an_evicted_or_deleted_key_is_reported_as_a_loss) {
  redis_server server;
  const auto c = client::open(server.url() + quick_with("ttl=900ms"));
  for (const bool evicted : {false, true}) {
    auto held = c.mutex("x").acquire();
    if (evicted) {
      server.command({"CONFIG", "SET", "maxmemory-policy", "allkeys-random"});
      server.command({"CONFIG", "SET", "maxmemory", "1"});
      server.command({"SET", "more", "room"});
    } else {
      server.command({"DEL", "x"});
    }
    EXPECT_TRUE(eventually([&] { return held.loss_token().stop_requested(); }));
    EXPECT_EQ(held.status(), errc::lost);
    std::error_code ec;
    held.release(ec);
    EXPECT_EQ(ec, outcome::lost);
  }
}

TEST_F(redis_server_limits, a_key_that_somebody_overwrote_is_a_loss_and_stays_theirs) {
  redis_server server;
  const auto c = client::open(server.url() + quick_with("ttl=900ms"));
  auto held = c.mutex("x").acquire();
  server.command({"SET", "x", "theirs"});
  EXPECT_TRUE(eventually([&] { return held.loss_token().stop_requested(); }));
  std::error_code ec;
  held.release(ec);
  EXPECT_EQ(ec, outcome::lost);
  EXPECT_EQ(server.command({"GET", "x"}).text, "theirs");
  EXPECT_EQ(server.command({"PTTL", "x"}).number, -1);
}

TEST_F(redis_server_limits, a_key_whose_time_to_live_was_taken_away_is_still_given_back) {
  redis_server server;
  const auto c = client::open(server.url() + quick);
  auto held = c.mutex("x").acquire();
  server.command({"PERSIST", "x"});
  EXPECT_TRUE(held.held());
  held.release();
  EXPECT_EQ(server.command({"EXISTS", "x"}).number, 0);
}

}  // namespace
}  // namespace holdfast::redis_test
