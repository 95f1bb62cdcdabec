// Layouts that retry: requests and answers whose claim has ended or moved meanwhile, and renewals
// that go out together or are refused.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/unit/backend/redis/layouts/two_nodes.hpp"

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;

// Its key has moved, and it has ended at the new server before the former one answers.
TEST(redis_late_answers, of_a_former_server_to_an_attempt_that_is_gone_are_dropped) {
  for (const bool is_free : {false, true}) {
    two_nodes w(true, "getset");
    w.pass();
    if (!is_free) w.world.command({"SET", "moving-job.lock", "8000000000000"});
    auto c = std::make_unique<recorded_claim>(*w.tested, "moving-job");
    w.world.stopped = {&w.world.model};
    c->acquire();
    w.pass(10ms);
    w.move_keys();
    c->cancel();
    w.pass(10ms);
    ASSERT_EQ(c->log, "ended ");
    c.reset();
    w.world.stopped.clear();
    w.pass();
    EXPECT_EQ(w.held("first-job").log, "granted ") << is_free;
  }
}

TEST(redis_late_answers, to_an_attempt_that_is_gone_are_dropped) {
  for (const std::string_view layout : {"string", "lua"}) {
    two_nodes w(false, layout);
    w.pass();
    w.world.command({"SET", "first-job", "somebody"});
    auto c = std::make_unique<recorded_claim>(*w.tested, "first-job");
    w.world.changed = [&](std::string bytes) {
      c.reset();
      return bytes;
    };
    c->acquire();
    w.pass(1ms);
    w.world.changed = nullptr;
    EXPECT_FALSE(c) << layout;
    EXPECT_EQ(w.held("first-other").log, "granted ") << layout;
  }
}

void expect_late_renewal_dropped(std::string_view layout) {
  two_nodes w(false, layout);
  w.pass();
  recorded_claim& other = w.held("first-other");
  auto c = std::make_unique<recorded_claim>(*w.tested, "first-job");
  c->acquire();
  other.renew(1);  // opens the connection
  w.pass();
  std::string late;
  w.world.changed = [&](std::string bytes) {
    if (!late.empty()) return bytes;
    late = std::move(bytes);
    return std::string();
  };
  c->renew(1);
  w.pass(1ms);
  ASSERT_FALSE(late.empty());
  c->release();
  w.pass(1ms);
  ASSERT_EQ(c->log, "granted ended ");
  c.reset();
  w.world.changed = [&](const std::string& bytes) { return std::exchange(late, {}) + bytes; };
  other.renew(2);
  w.pass(1ms);
  EXPECT_TRUE(late.empty());
  EXPECT_EQ(other.log, "granted extended 1 extended 2 ");
  w.world.changed = nullptr;
}

TEST(redis_late_answers, to_the_renewal_of_a_claim_that_is_gone_are_dropped) {
  for (const std::string_view layout : {"string", "redisson-spin"})
    expect_late_renewal_dropped(layout);
}

// At the same time as that of another claim, at once or after a connection was made.
TEST(redis_unsent_attempts, that_were_given_up_are_not_sent) {
  for (const std::string_view layout : {"string", "lua"})
    for (const bool is_gone : {false, true})
      for (const bool is_connected : {false, true}) {
        two_nodes w(false, layout);
        w.pass();
        if (!is_connected) w.lose_connections();
        auto c = std::make_unique<recorded_claim>(*w.tested, "first-job");
        c->acquire();
        recorded_claim& other = w.claim_on("first-other");
        other.acquire();
        is_gone ? c.reset() : c->cancel();
        w.pass(1s);
        EXPECT_EQ(other.log, "granted ") << layout << is_gone << is_connected;
        EXPECT_EQ(is_gone ? "ended " : c->log, "ended ");
        EXPECT_EQ(w.world.command({"EXISTS", "first-job"}), ":0\r\n");
      }
}

// The renewals' connection is lost, and with it the proof that all lead to one server.
TEST(redis_retrying_releases, are_sent_while_nothing_may_be_acquired) {
  two_nodes w(false, "lua");
  w.pass();
  recorded_claim& c = w.held("first-job");
  c.renew(1);
  w.pass();
  w.world.refuses_connections = true;
  w.world.changed = [](std::string bytes) {
    return bytes.starts_with('*') ? std::string("this is no reply\r\n") : bytes;
  };
  c.renew(2);
  w.pass(1ms);
  w.world.changed = nullptr;
  recorded_claim& other = w.claim_on("first-other");
  other.acquire();
  c.release();
  w.pass(10ms);
  EXPECT_EQ(c.log, "granted extended 1 ended ");
  EXPECT_EQ(other.log, "");
}

// The server refuses the last of the three commands at first.
TEST(redis_getset_attempts, take_a_dead_stamp_over_when_the_server_accepts_requests_again) {
  two_nodes w(false, "getset");
  w.pass();
  w.world.command({"SET", "first-job.lock", "1"});
  w.world.changed = [&](std::string bytes) {
    w.world.model.set_disk_full(bytes.find("$1\r\n1\r\n") != bytes.npos);
    return bytes;
  };
  recorded_claim& c = w.claim_on("first-job");
  c.acquire();
  w.pass(1s);
  w.world.changed = nullptr;
  EXPECT_EQ(c.log, "granted ");
}

TEST(redis_getset_renewals, that_were_refused_leave_the_lease_to_the_next_one) {
  two_nodes w(false, "getset");
  w.pass();
  recorded_claim& c = w.held("first-job");
  w.world.model.set_disk_full(true);
  c.renew(1);
  w.pass();
  w.world.model.set_disk_full(false);
  c.renew(2);
  w.pass();
  EXPECT_EQ(c.log, "granted extended 2 ");
}

// The connection is not closed, but no byte arrives over it any more.
TEST(redis_listening_waiters, find_out_that_their_messages_connection_is_dead) {
  two_nodes w(false, "redisson");
  w.pass();
  w.world.command({"HSET", "first-job", "5f0c9cf2-23a1-4bd5-b0a7-6b26b2a6d34e:97", "1"});
  const recorded_claim& c = w.held("first-job");
  w.world.changed = [&, n = w.world.connection_attempts.size()](std::string bytes) {
    const bool is_of_messages =
        bytes.find("pong") != bytes.npos || bytes.find("message") != bytes.npos;
    const bool is_dropped = is_of_messages && w.world.connection_attempts.size() == n;
    return is_dropped ? std::string() : bytes;
  };
  w.world.command({"DEL", "first-job"});
  w.world.command({"PUBLISH", "redisson_lock__channel:{first-job}", "0"});
  w.pass(2s);  // by itself it would look after at least 2.5 s
  w.world.changed = nullptr;
  EXPECT_EQ(c.log, "granted ");
}

// They are back at a server that they have listened to a moment before.
TEST(redis_moved_waiters, sleep_where_they_hear_messages_already) {
  constexpr const char* somebody = "5f0c9cf2-23a1-4bd5-b0a7-6b26b2a6d34e:97";
  two_nodes w(true, "redisson");
  w.pass();
  for (sim::model_redis* const s : {&w.world.model, &w.world.second})
    w.world.command_at(*s, {"HSET", "moving-job", somebody, "1"});
  const recorded_claim& c = w.held("moving-job");
  w.move_keys();
  w.pass(500ms);
  w.move_keys(false);
  int attempts = 0;
  w.world.changed = [&](std::string bytes) {
    attempts += bytes.starts_with("*2\r\n:0\r\n");
    return bytes;
  };
  w.pass(1s);
  w.world.changed = nullptr;
  EXPECT_EQ(c.log, "");
  EXPECT_LE(attempts, 3);
}

TEST(redis_moved_attempts, are_ended_by_the_answer_of_the_server_that_was_asked) {
  two_nodes w(true, "redisson-spin");
  w.pass();
  w.world.command({"HSET", "moving-job", "5f0c9cf2-23a1-4bd5-b0a7-6b26b2a6d34e:97", "1"});
  w.move_keys_before("*2\r\n:0\r\n");
  recorded_claim& c = w.claim_on("moving-job");
  c.attempt();
  w.pass();
  EXPECT_TRUE(w.servers.has_moved);
  EXPECT_EQ(c.log.find("refused: "), 0u) << c.log;
  EXPECT_EQ(w.at_second("moving-job"), ":0\r\n");
}

TEST(redis_retrying_renewals, of_many_leases_go_out_in_requests_of_a_limited_number) {
  two_nodes w(false, "lua");
  w.pass();
  std::vector<recorded_claim*> all;
  for (int i = 0; i < 300; ++i) {
    all.push_back(&w.claim_on("first-" + std::to_string(i)));
    all.back()->acquire();
  }
  w.pass();
  std::string heard;
  w.world.changed = [&](std::string bytes) { return heard += bytes, bytes; };
  for (recorded_claim* const c : all) c->renew(1);
  w.pass();
  w.world.changed = nullptr;
  for (const recorded_claim* const c : all) EXPECT_EQ(c->log, "granted extended 1 ");
  EXPECT_NE(heard.find("*256\r\n"), std::string::npos);
  EXPECT_NE(heard.find("*44\r\n"), std::string::npos);
}

// The server has old data, as a replica that is promoted may.
TEST(redis_ended_claims, leave_a_lock_that_old_data_bring_back_to_its_lease) {
  two_nodes w(false, "lua");
  w.pass();
  recorded_claim& c = w.held("first-job");
  w.world.model.save();
  c.release();
  w.pass();
  ASSERT_EQ(w.world.command({"EXISTS", "first-job"}), ":0\r\n");
  w.world.model.restart(sim::kept::what_was_saved);
  w.pass(1s);
  EXPECT_EQ(w.world.command({"EXISTS", "first-job"}), ":1\r\n");
}

// A server is in use while a claim holds or wants a lock there.
TEST(redis_moved_keys, leave_their_former_server_unused) {
  for (const std::string_view layout : {"string", "lua"}) {
    two_nodes w(true, layout);
    w.pass();
    const auto used = [&] {
      const std::lock_guard guard(w.reactor.mutex());
      return std::to_string(w.servers.one.is_in_use()) + std::to_string(w.servers.two.is_in_use());
    };
    EXPECT_EQ(used(), "00") << layout;
    recorded_claim& c = w.held("moving-job");
    EXPECT_EQ(used(), "10") << layout;
    w.world.command_at(w.world.second, {"SET", "moving-job", c.owner(), "PX", "9000"});
    w.move_keys();
    EXPECT_EQ(used(), "01") << layout;
    c.release();
    w.pass();
    EXPECT_EQ(used(), "00") << layout;
  }
}

TEST(redis_redirected_attempts, show_an_outage_unless_another_server_has_the_key) {
  for (const std::string_view layout : {"string", "lua"})
    for (const std::string error : {"-TRYAGAIN later\r\n", "-MOVED 3999 second:6379\r\n"}) {
      two_nodes w(true, layout);
      w.pass();
      bool is_redirected = false;
      w.world.changed = [&](std::string bytes) {
        const auto at = bytes.find(layout == "lua" ? "*1\r\n:1\r\n" : "+QUEUED");
        if (at == bytes.npos || std::exchange(is_redirected, true)) return bytes;
        if (layout == "lua") return error;
        return bytes.substr(0, at) + error + "+QUEUED\r\n-EXECABORT Discarded\r\n";
      };
      w.claim_on("first-job").acquire();
      w.pass(5ms);
      ASSERT_TRUE(is_redirected);
      EXPECT_EQ(w.servers.one.is_unavailable(), error.starts_with("-TRYAGAIN")) << layout << error;
      w.world.changed = nullptr;
    }
}

// The server refuses requests for a second only.
TEST(redis_refusals, that_are_over_end_no_wait_after_the_outage_timeout) {
  for (const std::string layout : {"string", "lua"}) {
    on_model world;
    const client c = world.open("outage-timeout=20s&op-timeout=2s&layout=" + layout);
    world.command({"SET", "job", "somebody"});
    world.model.set_disk_full(true);
    world.at(1s, [&] { world.model.set_disk_full(false); });
    world.at(40s, [&] { world.command({"DEL", "job"}); });
    std::error_code ec;
    EXPECT_TRUE(c.mutex("job").acquire({}, {}, ec).held());
    EXPECT_EQ(ec, std::error_code()) << layout;
  }
}

// The server does not withdraw it, because another server has the key.
TEST(redis_left_owners, show_in_a_cluster_that_their_key_has_moved) {
  for (const bool are_in_cluster : {false, true}) {
    two_nodes w(are_in_cluster, "lua");
    w.pass();
    w.world.stopped = {&w.world.model};
    recorded_claim& c = w.claim_on("first-job");
    c.attempt();
    w.pass(3s);
    ASSERT_EQ(c.log.find("refused: "), 0u) << c.log;
    bool is_redirected = false;
    w.world.changed = [&](std::string bytes) {
      const auto at = bytes.find("-MISCONF");
      if (at == bytes.npos) return bytes;
      is_redirected = true;
      return bytes.replace(at, bytes.find("\r\n", at) - at, "-MOVED 3999 second:6379");
    };
    w.world.model.set_disk_full(true);
    w.world.stopped.clear();
    w.pass(5s);
    w.world.changed = nullptr;
    EXPECT_TRUE(is_redirected);
    EXPECT_EQ(w.servers.redirected, are_in_cluster ? "first-job" : "");
  }
}

TEST(redis_left_owners, are_withdrawn_at_once_by_a_server_that_has_lost_its_scripts) {
  on_model world;
  const client c = world.open("op-timeout=1s&layout=lua");
  world.stopped = {&world.model};
  std::error_code ec;
  EXPECT_FALSE(c.mutex("job").try_acquire(ec));
  {
    const refused_writes refused(world);
    world.model.set_disk_full(true);
    world.stopped.clear();
    for (int i = 0; i < 1000 && refused.count < 5; ++i) world.pass(10ms);
  }
  world.model.set_disk_full(false);
  world.model.script_flush();
  bool is_missing = false;
  world.changed = [&](std::string bytes) {
    is_missing = is_missing || bytes.find("NOSCRIPT") != bytes.npos;
    return bytes;
  };
  for (int i = 0; i < 1000 && !is_missing; ++i) world.pass(1ms);
  world.pass(1ms);
  world.changed = nullptr;
  EXPECT_TRUE(is_missing);
  EXPECT_EQ(world.command({"EXISTS", "job"}), ":0\r\n");
}

// The server has refused to withdraw it, and would be asked again after a second.
TEST(redis_left_owners, are_withdrawn_at_once_when_the_client_closes) {
  for (const std::string layout : {"string", "lua"}) {
    on_model world;
    client c = world.open("op-timeout=1s&layout=" + layout);
    world.stopped = {&world.model};
    std::error_code ec;
    EXPECT_FALSE(c.mutex("job").try_acquire(ec));
    const refused_writes refused(world);
    world.model.set_disk_full(true);
    world.stopped.clear();
    for (int i = 0; i < 1000 && refused.count < 5; ++i) world.pass(10ms);
    ASSERT_EQ(refused.count, 5) << layout;
    EXPECT_EQ(world.command({"EXISTS", "job"}), ":1\r\n");
    world.model.set_disk_full(false);
    const base::time_point before = world.now();
    EXPECT_TRUE(c.close());
    EXPECT_LT(world.now() - before, 50ms) << layout;
    EXPECT_EQ(world.command({"EXISTS", "job"}), ":0\r\n");
  }
}

struct heard_refusals final : request_source {
  void write_requests(lane, request_writer&) override {}
  void on_ready(lane, time_point, base::event_queue&) override {}
  void on_down(lane, const base::failure&, loss, time_point, base::event_queue&) override {}
  void on_silent(lane, time_point) override {}
  void on_requests_refused(time_point) override { ++count; }
  void on_tick(time_point, base::event_queue&) override {}
  bool is_in_use() const noexcept override { return false; }
  int count = 0;
};

TEST(redis_refused_renewals, are_reported_and_no_others) {
  for (const std::string_view layout : {"string", "lua"}) {
    heard_refusals heard;
    two_nodes w(false, layout);
    {
      const std::lock_guard guard(w.reactor.mutex());
      w.servers.one.serve(heard);
    }
    w.pass();
    recorded_claim& c = w.held("first-job");
    c.renew(1);
    w.pass();
    EXPECT_EQ(heard.count, 0) << layout;
    w.world.model.forbid("evalsha");
    c.renew(2);
    w.pass();
    EXPECT_EQ(heard.count, 1) << layout;
    EXPECT_EQ(c.log, "granted extended 1 ");
  }
}

}  // namespace
}  // namespace holdfast::redis
