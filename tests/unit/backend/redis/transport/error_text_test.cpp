#ifdef HOLDFAST_WITH_REDIS
#include "backend/redis/transport/error_text.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "backend/redis/transport/resp.hpp"
#include "backend/redis/transport/server_info.hpp"
#include "tests/unit/backend/redis/transport/reply_text.hpp"

namespace holdfast::redis {
namespace {

struct text_row {
  std::string_view error;
  bool doubts_data;
  bool is_passing;
  errc why;
};

constexpr text_row text_rows[] = {
    {"LOADING Redis is loading", true, true, errc::unavailable},
    {"READONLY You can't write", true, true, errc::unavailable},
    {"-READONLY from a script", true, true, errc::unavailable},
    {"MASTERDOWN Link with MASTER", true, true, errc::unavailable},
    {"UNBLOCKED force unblock", false, true, errc::unavailable},
    {"CLUSTERDOWN", false, true, errc::unavailable},
    {"NOREPLICAS Not enough", false, true, errc::unavailable},
    {"MISCONF Redis is", false, true, errc::unavailable},
    {"OOM command not allowed", false, true, errc::unavailable},
    {"BUSY Redis is busy", false, true, errc::unavailable},
    {"NOAUTH Authentication required.", false, false, errc::refused},
    {"WRONGPASS invalid", false, false, errc::refused},
    {"NOPERM this user", false, false, errc::refused},
    {"ERR The user executing the script can't run this command or subcommand script: 8a", false,
     false, errc::refused},
    {"ERR ACL failure in script: User app has no permissions to run the 'set' command", false,
     false, errc::refused},
    {"CROSSSLOT Keys in request", false, false, errc::refused},
    {"MOVED 3999 127.0.0.1:6381", false, false, errc::refused},
};

TEST(redis_server_errors, have_one_meaning_each_alone_and_when_they_abort_something) {
  for (const text_row& r : text_rows) {
    const std::string behind =
        "EXECABORT Transaction discarded because of: " + std::string(r.error);
    const std::string in_script =
        "ERR Error running script (call to f_e32817decd74acde185bee8f8373420acc9075b6): "
        "@user_script:11: @user_script: 11: -" +
        std::string(r.error.substr(r.error.starts_with('-') ? 1 : 0));
    for (const std::string& text : {std::string(r.error), behind, in_script}) {
      EXPECT_EQ(puts_data_in_doubt(text), r.doubts_data) << text;
      const error_meaning* const m = meaning_of(text);
      ASSERT_TRUE(m) << text;
      EXPECT_EQ(m->is_passing, r.is_passing) << text;
      EXPECT_EQ(m->why, r.why) << text;
    }
  }
  for (const std::string_view text :
       {"READONLYNOT", "ERR unknown command", "",
        "EXECABORT Transaction discarded because of previous errors.",
        "ERR Error running script (call to f_e3): @user_script:1: attempt to index a nil value",
        "ERR unknown command: -OOM"})
    EXPECT_FALSE(meaning_of(text)) << text;
  EXPECT_FALSE(puts_data_in_doubt(std::string_view()));
}

bool is_doubted(std::string_view reply_text) {
  reply_reader reader;
  bool out = false;
  reader.feed(std::as_bytes(std::span(reply_text)));
  reader.for_each([&](const value& v) {
    out = puts_data_in_doubt(v);
    return true;
  });
  return out;
}

TEST(redis_server_errors, are_looked_up_among_those_of_a_layout_too) {
  constexpr error_meaning own[] = {{"OURS", errc::mismatch, false, false, "do this"},
                                   {"OOM", errc::mismatch, false, false,
                                    "the server's comes first"}};
  ASSERT_TRUE(meaning_of("OURS a reason", own));
  EXPECT_EQ(meaning_of("OURS a reason", own)->why, errc::mismatch);
  EXPECT_EQ(meaning_of("OOM", own)->why, errc::unavailable);
  EXPECT_EQ(explain("OURS a reason", own), "the server answered \"OURS a reason\": do this");
  EXPECT_EQ(explain("OURS a\nreason"), "the server answered \"OURS a?reason\"");
}

TEST(redis_server_errors, put_data_in_doubt_also_inside_an_answer_of_several) {
  EXPECT_TRUE(is_doubted("-READONLY You can't write against a read only replica.\r\n"));
  EXPECT_TRUE(is_doubted("*2\r\n:1\r\n-READONLY You can't\r\n"));
  EXPECT_TRUE(is_doubted("*2\r\n-LOADING data\r\n:1\r\n"));
  EXPECT_FALSE(is_doubted("*2\r\n-OOM command not allowed\r\n:1\r\n"));
  EXPECT_FALSE(is_doubted("*2\r\n+READONLY\r\n$8\r\nREADONLY\r\n")) << "no errors";
  EXPECT_FALSE(is_doubted(":1\r\n"));
}

TEST(redis_server_errors, show_which_right_is_lacking) {
  const auto is_of_key = [](const std::string& error) {
    reply_reader reader;
    bool out = false;
    reader.feed(std::as_bytes(std::span(error)));
    reader.for_each([&](const value& v) {
      out = is_key_denied(v);
      return true;
    });
    return out;
  };
  EXPECT_TRUE(is_of_key("-NOPERM this user has no permissions to access one of the keys used as "
                        "arguments\r\n"));
  EXPECT_TRUE(is_of_key("-NOPERM No permissions to access a key\r\n"));
  EXPECT_FALSE(is_of_key("-NOPERM this user has no permissions to run the 'scan' command\r\n"));
  EXPECT_FALSE(is_of_key("-NOPERM No permissions to access a channel\r\n"));
  EXPECT_FALSE(is_of_key("-ERR no permissions to access a key\r\n"));
}

TEST(redis_server_errors, are_explained_with_the_remedy_and_without_control_characters) {
  EXPECT_NE(explain("READONLY You can't write").find("name its master"), std::string::npos);
  EXPECT_NE(explain("NOPERM this user").find("docs/backends/redis.md"), std::string::npos);
  for (const char* refusal : {"ERR AUTH <password> called without any password configured for the "
                              "default user. Are you sure your configuration is correct?",
                              "ERR Client sent AUTH, but no password is set"})
    EXPECT_NE(explain(refusal).find("leave the password out of the URL"), std::string::npos);
  EXPECT_EQ(explain("ERR odd\x01\xff\r\n"), "the server answered \"ERR odd????\"");
  EXPECT_EQ(explain(std::string(1000, 'x')),
            "the server answered \"" + std::string(200, 'x') + '"');
  EXPECT_EQ(explain(""), "the server answered \"\"");
}

TEST(redis_server_errors, of_a_replica_are_recognized) {
  EXPECT_TRUE(is_of_replica("READONLY You can't write"));
  EXPECT_TRUE(is_of_replica("MASTERDOWN Link with MASTER"));
  EXPECT_TRUE(is_of_replica("UNBLOCKED force unblock from blocking operation"));
  EXPECT_TRUE(is_of_replica("ERR WAIT cannot be used with replica instances."));
  EXPECT_FALSE(is_of_replica("LOADING Redis is loading"));
  EXPECT_FALSE(is_of_replica("ERR unknown command"));
  EXPECT_FALSE(is_of_replica(""));
}

TEST(redis_server_errors, of_a_cluster_name_another_server_or_none_yet) {
  const auto is_redirected = [](std::string_view error) {
    bool out = false;
    with_replies(error, [&](const value& v) { out = is_redirection(v); });
    return out;
  };
  EXPECT_TRUE(is_redirected("-MOVED 3999 127.0.0.1:6381\r\n"));
  EXPECT_TRUE(is_redirected("-ASK 3999 127.0.0.1:6381\r\n"));
  EXPECT_TRUE(is_redirected("-TRYAGAIN Multiple keys\r\n"));
  EXPECT_FALSE(is_redirected("-CLUSTERDOWN The cluster is down\r\n"));
  EXPECT_FALSE(is_redirected("+MOVED\r\n"));
  EXPECT_EQ(redirection(not_executed::moved, "MOVED 3999 127.0.0.1:6381").address(),
            "127.0.0.1:6381");
}

TEST(redis_server_errors, say_whether_the_server_has_done_nothing) {
  const auto reason = [](std::string_view error, std::string_view aborted = {}) {
    std::optional<not_executed> out;
    with_replies(error, [&](const value& v) { out = not_executed_by(v, aborted); });
    return out;
  };
  EXPECT_EQ(reason("-NOSCRIPT none\r\n"), not_executed::script_missing);
  EXPECT_EQ(reason("-EXECABORT discarded\r\n", "ASK 1 h:1"), not_executed::ask);
  EXPECT_EQ(reason("-EXECABORT discarded\r\n", "TRYAGAIN keys"), not_executed::try_again);
  EXPECT_EQ(reason("-EXECABORT discarded\r\n"), std::nullopt);
  EXPECT_EQ(reason("-ERR no\r\n", "MOVED 1 h:1"), std::nullopt) << "no transaction was discarded";
  EXPECT_EQ(reason("+MOVED 1 h:1\r\n"), std::nullopt);
}

TEST(redis_server_info, has_its_fields_whole) {
  constexpr std::string_view info =
      "# Memory\r\nused_maxmemory:7\r\nmaxmemory:100\r\nmaxmemory_policy:allkeys-lru\r\nlast:x";
  EXPECT_EQ(info_field(info, "maxmemory"), "100");
  EXPECT_EQ(info_field(info, "maxmemory_policy"), "allkeys-lru");
  EXPECT_EQ(info_field(info, "last"), "x");
  EXPECT_EQ(info_field(info, "memory"), "");
  EXPECT_EQ(info_field("", "maxmemory"), "");
  constexpr std::string_view role = "role:master";
  EXPECT_EQ(info_field(role.substr(0, 4), "role"), "") << "the value is not part of the reply";
}

TEST(redis_server_info, takes_only_two_numbers_for_the_server_s_time) {
  const auto time_in = [](std::string_view reply_text) {
    server_time out{-1};
    with_replies(reply_text, [&](const value& v) { out = read_time(v); });
    return out;
  };
  EXPECT_EQ(time_in("*2\r\n$10\r\n1795429196\r\n$6\r\n175335\r\n"),
            server_time{1'795'429'196'175'335});
  EXPECT_EQ(time_in("*2\r\n$1\r\n1\r\n$1\r\n0\r\n"), server_time{1'000'000});
  EXPECT_EQ(time_in("*2\r\n$14\r\n18446744073710\r\n$1\r\n0\r\n"), server_time::zero());
  for (const std::string_view no_time :
       {"*2\r\n$4\r\nlate\r\n$1\r\n5\r\n", "*2\r\n$2\r\n1x\r\n$1\r\n5\r\n",
        "*2\r\n$1\r\n1\r\n$4\r\nlate\r\n", "*2\r\n$1\r\n1\r\n$2\r\n5x\r\n",
        "*2\r\n$0\r\n\r\n$1\r\n5\r\n", "*2\r\n$1\r\n1\r\n$0\r\n\r\n", "*2\r\n:1\r\n:5\r\n",
        "*2\r\n$2\r\n-1\r\n$1\r\n5\r\n", "*2\r\n$1\r\n1\r\n$2\r\n-5\r\n",
        "*2\r\n$1\r\n1\r\n$7\r\n1000000\r\n", "*2\r\n$19\r\n9223372036854775807\r\n$1\r\n0\r\n",
        "*2\r\n$20\r\n92233720368547758080\r\n$1\r\n0\r\n", "*1\r\n$1\r\n1\r\n",
        "*3\r\n$1\r\n1\r\n$1\r\n5\r\n$1\r\n6\r\n", "*0\r\n", "$1\r\n1\r\n", ":1\r\n", "$-1\r\n",
        "-ERR no time\r\n"})
    EXPECT_EQ(time_in(no_time), server_time::zero()) << no_time;
}

TEST(redis_server_info, warns_of_eviction_where_it_can_happen) {
  const auto warns = [](const std::string& most, const std::string& policy) {
    return !eviction_warning("maxmemory:" + most + "\r\nmaxmemory_policy:" + policy + "\r\n")
                .empty();
  };
  EXPECT_TRUE(warns("100", "allkeys-lru"));
  EXPECT_TRUE(warns("100", "volatile-ttl"));
  EXPECT_FALSE(warns("0", "allkeys-lru"));
  EXPECT_FALSE(warns("100", "noeviction"));
  EXPECT_FALSE(warns("100", ""));
  EXPECT_EQ(eviction_warning(""), "");
  EXPECT_EQ(eviction_warning("maxmemory_policy:allkeys-lru\r\n"), "") << "no limit is reported";
}

TEST(redis_server_info, shows_40_printable_characters_of_a_policy) {
  const auto shown = [](const std::string& policy) {
    return eviction_warning("maxmemory:100\r\nmaxmemory_policy:" + policy + "\r\n");
  };
  EXPECT_NE(shown("a\x01~ \x7f").find("(maxmemory-policy a?~ ?)"), std::string::npos);
  const std::string longest(40, 'x');
  EXPECT_NE(shown(longest + "y").find("maxmemory-policy " + longest + ")"), std::string::npos);
}

TEST(redis_error_text, of_a_script_before_redis_7_is_that_of_its_command) {
  for (const char* text :
       {"@user_script: 8: -READONLY You can't write against a read only replica.",
        "ERR Error running script (call to f_e3): @user_script:8: @user_script: 8: -READONLY "
        "You"}) {
    ASSERT_TRUE(meaning_of(text)) << text;
    EXPECT_EQ(meaning_of(text)->code, "READONLY");
    EXPECT_TRUE(is_of_replica(text));
  }
  constexpr error_meaning own[] = {{"WRONGTYPE", errc::mismatch, false, false, ""}};
  EXPECT_TRUE(
      meaning_of("ERR Error running script (call to f_e3): @user_script:8: WRONGTYPE x", own));
}

}  // namespace
}  // namespace holdfast::redis
#endif
