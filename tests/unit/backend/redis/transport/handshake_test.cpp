#include "backend/redis/transport/handshake.hpp"

#include "tests/unit/backend/redis/transport/reply_text.hpp"

namespace holdfast::redis {
namespace {

using outcome = handshake::outcome;

constexpr base::time_point start{std::chrono::hours{1}};

class redis_handshake : public testing::Test {
 protected:
  std::string begin(handshake& h) {
    out.clear();
    h.begin(out, {});
    return commands_in(std::exchange(out, {}));
  }
  outcome hear(handshake& h, const std::string& replies) {
    outcome last = outcome::goes_on;
    with_replies(replies, [&](const value& v) {
      last = h.on_reply(v, out, {});
      if (last == outcome::introduced) last = h.go_on(out, start);
    });
    return last;
  }
  std::string sent() { return commands_in(std::exchange(out, {})); }
  static std::string info(const std::string& run_id) { return introduction(run_id); }
  // A connection whose id is `id`, which was used and is lost.
  void one_that_is_lost(handshake& h, int id, const std::string& run_id = "r1") {
    begin(h);
    ASSERT_EQ(hear(h, "+OK\r\n:" + std::to_string(id) + "\r\n" + info(run_id)), outcome::done);
    h.on_lost(true, start);
  }

  endpoint e;
  subscriptions channels;
  std::string out;
  handshake commands{e, lane::commands, channels}, messages{e, lane::messages, channels};
};

TEST_F(redis_handshake, sends_its_name_and_queries_its_id_and_the_server) {
  EXPECT_EQ(begin(commands),
            "CLIENT SETNAME holdfast-commands | CLIENT ID | " + std::string(asks_who_it_is));
  EXPECT_EQ(hear(commands, "+OK\r\n"), outcome::goes_on);
  EXPECT_EQ(hear(commands, ":7\r\n"), outcome::goes_on);
  EXPECT_EQ(hear(commands, info("r1")), outcome::done);
  EXPECT_TRUE(commands.no_older_connection_runs());
  EXPECT_EQ(sent(), "");
}

TEST_F(redis_handshake, authenticates_and_selects_first) {
  e.password = "secret";
  e.database = 3;
  EXPECT_EQ(begin(commands),
            "AUTH secret | SELECT 3 | CLIENT SETNAME holdfast-commands | CLIENT ID | " +
                std::string(asks_who_it_is));
  e.user = "me";
  handshake named(e, lane::renewals, channels);
  EXPECT_EQ(begin(named),
            "AUTH me secret | SELECT 3 | CLIENT SETNAME holdfast-renewals | CLIENT ID | " +
                std::string(asks_who_it_is));
}

TEST_F(redis_handshake, continues_where_the_user_lacks_a_right_that_it_can_do_without) {
  begin(commands);
  EXPECT_EQ(hear(commands, "-NOPERM no CLIENT\r\n-ERR unknown command\r\n-ERR unknown\r\n"
                           "-NOPERM no INFO\r\n-NOPERM no INFO\r\n"),
            outcome::goes_on);
  EXPECT_EQ(sent(), "HELLO 2");
  EXPECT_EQ(hear(commands, "-NOPERM no HELLO\r\n"), outcome::done);
  EXPECT_FALSE(commands.server().is_known());
}

const std::string without_info = "+OK\r\n:7\r\n+laddr=x\r\n-NOPERM no\r\n-NOPERM no\r\n";

TEST_F(redis_handshake, without_the_right_to_info_reads_the_role_from_hello) {
  begin(commands);
  EXPECT_EQ(hear(commands, without_info), outcome::goes_on);
  EXPECT_EQ(hear(commands, "*4\r\n$5\r\nproto\r\n:2\r\n$4\r\nrole\r\n$7\r\nreplica\r\n"),
            outcome::done);
  EXPECT_EQ(commands.server().role, server_role::replica);
}

TEST_F(redis_handshake, without_the_right_to_info_publishes_to_the_channel_of_its_own) {
  channels.renew_own(5);
  handshake renewals(e, lane::renewals, channels);
  for (const bool is_there : {true, false}) {
    begin(renewals);
    EXPECT_EQ(hear(renewals, without_info), outcome::goes_on);
    EXPECT_EQ(sent(), "HELLO 2 | PUBLISH " + channels.own() + " 0");
    EXPECT_EQ(hear(renewals, is_there ? "-ERR no\r\n:1\r\n" : "-ERR no\r\n:0\r\n"), outcome::done);
    EXPECT_EQ(renewals.server().has_listener, is_there);
  }
}

TEST_F(redis_handshake, a_count_of_an_earlier_channel_of_its_own_shows_nothing) {
  channels.renew_own(5);
  handshake renewals(e, lane::renewals, channels);
  begin(renewals);
  hear(renewals, without_info + "-ERR no\r\n");
  channels.on_lost();
  channels.renew_own(6);
  EXPECT_EQ(hear(renewals, ":1\r\n"), outcome::done);
  EXPECT_EQ(renewals.server().has_listener, std::nullopt);
}

TEST_F(redis_handshake, of_the_connection_for_messages_subscribes_to_the_own_channel_if_it_may) {
  channels.renew_own(5);
  begin(messages);
  EXPECT_EQ(hear(messages, without_info + "-ERR no\r\n"), outcome::goes_on);
  EXPECT_EQ(sent(), "HELLO 2 | SUBSCRIBE " + channels.own());
  EXPECT_EQ(hear(messages, "-NOPERM no channel\r\n"), outcome::done);
  EXPECT_EQ(channels.own(), "");
}

struct refusal {
  const char* error;
  bool is_passing;
  errc why;
};

TEST_F(redis_handshake, fails_where_the_server_will_not_have_it) {
  e.password = "secret";
  for (const refusal& r :
       {refusal{"-WRONGPASS invalid", false, errc::refused},
        refusal{"-ERR invalid password", false, errc::refused},
        refusal{"-LOADING the data", true, errc::unavailable},
        refusal{"-ERR max number of clients reached", true, errc::unavailable}}) {
    handshake h(e, lane::commands, channels);
    begin(h);
    EXPECT_EQ(hear(h, std::string(r.error) + "\r\n"), outcome::failed) << r.error;
    EXPECT_EQ(h.is_passing(), r.is_passing) << r.error;
    EXPECT_EQ(h.why().code, r.why) << r.error;
  }
}

TEST_F(redis_handshake, a_full_server_refuses_at_any_step) {
  begin(commands);
  EXPECT_EQ(hear(commands, "-ERR max number of clients reached\r\n"), outcome::failed);
  EXPECT_TRUE(commands.is_passing());
}

TEST_F(redis_handshake, ends_each_older_connection_before_it_is_done) {
  one_that_is_lost(commands, 7);
  begin(commands);
  EXPECT_EQ(hear(commands, "+OK\r\n:9\r\n" + info("r1")), outcome::goes_on);
  EXPECT_EQ(sent(), "CLIENT KILL ID 7");
  EXPECT_EQ(hear(commands, ":0\r\n"), outcome::done);
  EXPECT_TRUE(commands.no_older_connection_runs());
  commands.on_lost(true, start);
  begin(commands);
  hear(commands, "+OK\r\n:11\r\n" + info("r1"));
  EXPECT_EQ(sent(), "CLIENT KILL ID 9");
}

TEST_F(redis_handshake, an_older_connection_that_cannot_be_ended_may_still_be_running) {
  one_that_is_lost(commands, 7);
  begin(commands);
  EXPECT_EQ(hear(commands, "+OK\r\n:9\r\n" + info("r1") + "-NOPERM no KILL\r\n"), outcome::done);
  EXPECT_FALSE(commands.no_older_connection_runs());
}

TEST_F(redis_handshake, a_server_that_was_started_anew_has_no_older_connection) {
  one_that_is_lost(commands, 7);
  begin(commands);
  EXPECT_EQ(hear(commands, "+OK\r\n:3\r\n" + info("r2")), outcome::done);
  EXPECT_EQ(sent(), "");
  EXPECT_TRUE(commands.no_older_connection_runs());
}

TEST_F(redis_handshake, a_connection_without_a_known_id_may_be_running_on) {
  begin(commands);
  EXPECT_EQ(hear(commands, "+OK\r\n-NOPERM no ID\r\n" + info("r1")), outcome::done);
  commands.on_lost(true, start);
  begin(commands);
  EXPECT_EQ(hear(commands, "+OK\r\n:9\r\n" + info("r1")), outcome::done);
  EXPECT_FALSE(commands.no_older_connection_runs());
}

TEST_F(redis_handshake, ends_what_it_left_at_a_server_when_it_comes_back_there) {
  one_that_is_lost(commands, 7, "r1");
  one_that_is_lost(commands, 3, "r2");
  begin(commands);
  EXPECT_EQ(hear(commands, "+OK\r\n:9\r\n" + info("r1")), outcome::goes_on);
  EXPECT_EQ(sent(), "CLIENT KILL ID 7");
  EXPECT_EQ(hear(commands, ":1\r\n"), outcome::done);
  EXPECT_TRUE(commands.no_older_connection_runs());
}

TEST_F(redis_handshake, a_connection_that_was_never_used_leaves_nothing) {
  begin(commands);
  hear(commands, "+OK\r\n:7\r\n");
  commands.on_lost(false, start);
  EXPECT_TRUE(commands.no_older_connection_runs());
  begin(commands);
  EXPECT_EQ(hear(commands, "+OK\r\n:9\r\n" + info("r1")), outcome::done);
  EXPECT_EQ(sent(), "");
}

class silent_listener final : public message_handler {
  void on_subscribed(time_point, base::event_queue&) override {}
  void on_message(std::string_view, time_point, base::event_queue&) override {}
};

TEST_F(redis_handshake, of_the_connection_for_messages_subscribes_to_each_channel) {
  silent_listener l;
  channels.add("one", l);
  begin(messages);
  EXPECT_EQ(hear(messages, "+OK\r\n:5\r\n" + info("r1")), outcome::goes_on);
  EXPECT_EQ(sent(), "SUBSCRIBE one");
  EXPECT_EQ(hear(messages, "*3\r\n$9\r\nsubscribe\r\n$3\r\none\r\n:1\r\n"), outcome::done);
  EXPECT_TRUE(channels.is_active("one"));
}

TEST_F(redis_handshake, fails_without_the_right_to_a_channel) {
  silent_listener l;
  channels.add("one", l);
  begin(messages);
  EXPECT_EQ(hear(messages, "+OK\r\n:5\r\n" + info("r1") + "-NOPERM no channel\r\n"),
            outcome::failed);
  EXPECT_FALSE(messages.is_passing());
}

TEST_F(redis_handshake, names_each_connection_by_its_purpose) {
  constexpr const char* purposes[] = {"commands", "messages", "renewals", "probe", "replicas"};
  for (const lane l :
       {lane::commands, lane::messages, lane::renewals, lane::probe, lane::replicas}) {
    handshake h(e, l, channels);
    const std::string name = purposes[static_cast<unsigned>(l)];
    EXPECT_TRUE(begin(h).starts_with("CLIENT SETNAME holdfast-" + name + " | ")) << name;
  }
}

TEST_F(redis_handshake, knows_when_the_server_was_asked_and_when_it_has_answered) {
  const base::time_point later = start + std::chrono::seconds{2};
  commands.begin(out, start);
  with_replies("+OK\r\n:7\r\n" + info("r1"),
               [&](const value& v) { commands.on_reply(v, out, later); });
  EXPECT_EQ(commands.server().asked_at, start);
  EXPECT_EQ(commands.server().told_at, later);
}

TEST_F(redis_handshake, without_the_right_to_info_reads_the_version_from_hello) {
  for (const bool is_new : {true, false}) {
    begin(commands);
    const std::string version = is_new ? "7.2.4" : "6.2.14";
    EXPECT_EQ(hear(commands, without_info + "*4\r\n" + bulk("version") + bulk(version) +
                                 bulk("role") + bulk("master")),
              outcome::done);
    EXPECT_EQ(commands.server().has_sharded_channels, is_new);
    EXPECT_EQ(commands.server().role, server_role::master);
  }
}

TEST_F(redis_handshake, fails_for_a_moment_where_an_error_that_passes_answers_any_step) {
  begin(commands);
  EXPECT_EQ(hear(commands, "-LOADING the data\r\n"), outcome::failed);
  EXPECT_TRUE(commands.is_passing());
  EXPECT_EQ(commands.why().code, errc::unavailable);
}

TEST_F(redis_handshake, fails_where_the_database_cannot_be_selected) {
  e.database = 99;
  begin(commands);
  EXPECT_EQ(hear(commands, "-ERR DB index is out of range\r\n"), outcome::failed);
  EXPECT_FALSE(commands.is_passing());
  EXPECT_EQ(commands.why().code, errc::refused);
}

TEST_F(redis_handshake, that_is_lost_while_it_ends_older_connections_begins_that_again) {
  one_that_is_lost(commands, 7);
  begin(commands);
  EXPECT_EQ(hear(commands, "+OK\r\n:9\r\n" + info("r1")), outcome::goes_on);
  commands.on_lost(true, start);
  begin(commands);
  EXPECT_EQ(hear(commands, "+OK\r\n:11\r\n" + info("r1")), outcome::goes_on);
  EXPECT_EQ(sent(), "CLIENT KILL ID 7 | CLIENT KILL ID 9");
  EXPECT_EQ(hear(commands, ":1\r\n:1\r\n"), outcome::done);
  EXPECT_TRUE(commands.no_older_connection_runs());
}

}  // namespace
}  // namespace holdfast::redis
