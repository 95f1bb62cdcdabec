// Why a client of sentinels is not open: the reasons that it gives, and when.
#include "tests/unit/backend/redis/topologies/some_sentinels.hpp"

namespace holdfast::redis {
namespace {

class redis_sentinel_reasons : public some_sentinels {
 protected:
  // A sentinel that monitors "other" answers the request for the address of the master.
  void answer_last(const std::string& host, const std::string& bytes) {
    greet_sentinel(host);
    for (const std::size_t n : lines_to(host))
      if (net.received(n).find("MYID") != std::string::npos)
        net.reply(n, bulk(host) + "*2\r\n" + bulk("sentinel") + "*1\r\n" + bulk("other") +
                         others(host) + "*0\r\n*0\r\n" + bytes);
  }
  void reject(const std::string& host, const std::string& error) {
    pass();
    for (const std::size_t n : lines_to(host)) {
      net.open(n);
      net.received(n);
      net.reply(n, error);
    }
  }
  base::failure why_not_open(bool is_overdue = false) {
    const std::lock_guard guard(reactor.mutex());
    return over.why_not_open(is_overdue);
  }
  std::string trouble() {
    const std::lock_guard guard(reactor.mutex());
    return over.status().trouble.text;
  }
  void name_a() {
    answer("s1", "a");
    answer("s2", "a");
  }
};

TEST_F(redis_sentinel_reasons, there_is_none_before_the_time_is_over) {
  pass();
  EXPECT_FALSE(why_not_open().code);
  EXPECT_EQ(why_not_open(true).code, errc::unavailable);
  EXPECT_EQ(why_not_open(true).text, "no connection within the op-timeout");
}

TEST_F(redis_sentinel_reasons, redis_servers_where_sentinels_should_be_are_a_wrong_url) {
  const std::string unknown = "-ERR unknown command 'SENTINEL'\r\n";
  answer_last("s1", unknown);
  EXPECT_FALSE(why_not_open().code) << "the others may be sentinels";
  answer_last("s2", unknown);
  EXPECT_EQ(why_not_open().code, errc::bad_url);
  EXPECT_NE(why_not_open().text.find("s2:26379 (a Redis server answers there, and no sentinel"),
            std::string::npos)
      << why_not_open().text;
}

TEST_F(redis_sentinel_reasons, an_error_of_most_sentinels_is_reported_with_its_meaning) {
  const std::string denied = "-NOPERM this user has no permissions to run 'sentinel'\r\n";
  answer_last("s1", denied);
  answer_last("s2", denied);
  EXPECT_EQ(why_not_open().code, errc::refused);
  EXPECT_NE(why_not_open().text.find("this user may not do that"), std::string::npos);
}

TEST_F(redis_sentinel_reasons, a_name_that_most_do_not_know_is_a_wrong_url) {
  answer_last("s1", "*-1\r\n");
  EXPECT_FALSE(why_not_open().code);
  answer_last("s2", "*-1\r\n");
  EXPECT_EQ(why_not_open().code, errc::bad_url);
  EXPECT_NE(why_not_open().text.find("s1:26379 monitors other; s2:26379 monitors other"),
            std::string::npos)
      << why_not_open().text;
}

TEST_F(redis_sentinel_reasons, a_password_that_they_require_is_named_by_their_own_option) {
  for (const char* host : {"s1", "s2"}) reject(host, "-NOAUTH Authentication required.\r\n");
  const std::string why = why_not_open().text;
  EXPECT_EQ(why_not_open().code, errc::refused);
  EXPECT_NE(why.find("with ?sentinel-password-file= or ?sentinel-password-env="), why.npos) << why;
  EXPECT_EQ(why.find("?password-"), why.npos) << why;
}

TEST_F(redis_sentinel_reasons, a_master_that_is_down_may_be_replaced_and_one_that_rejects_may_not) {
  name_a();
  EXPECT_FALSE(why_not_open().code);
  net.close(lines_to("a").front(), {errc::unavailable, "nothing listens there"});
  EXPECT_FALSE(why_not_open().code);
  EXPECT_EQ(why_not_open(true).text, "nothing listens there");
  pass();
  reject("a", "-NOAUTH Authentication required.\r\n");
  EXPECT_EQ(why_not_open().code, errc::refused);
}

TEST_F(redis_sentinel_reasons, an_outage_shows_what_is_known_of_the_sentinels_too) {
  name_a();
  greet("a", "master", "ha");
  ASSERT_TRUE(is_open());
  for (const std::string& s : all)
    for (const std::size_t n : lines_to(s)) net.close(n);
  EXPECT_EQ(trouble(), "") << "locks do not depend on the sentinels";
  net.close(lines_to("a").back());
  EXPECT_TRUE(trouble().starts_with("no connection: closed; 0 of 3 sentinels can be queried"))
      << trouble();
}

TEST_F(redis_sentinel_reasons, an_outage_shows_nothing_of_sentinels_that_agree) {
  name_a();
  greet("a", "master", "ha");
  net.close(lines_to("a").back());
  EXPECT_EQ(trouble(), "no connection: closed");
}

TEST_F(redis_sentinel_reasons, sentinels_of_which_none_can_be_reached_are_reported_at_once) {
  pass();
  for (const char* host : {"s1", "s2"})
    for (const std::size_t n : lines_to(host)) net.close(n);
  EXPECT_FALSE(why_not_open().code) << "one may answer";
  for (const std::size_t n : lines_to("s3")) net.close(n);
  EXPECT_EQ(why_not_open().code, errc::unavailable);
  EXPECT_TRUE(why_not_open().text.starts_with("0 of 3 sentinels can be queried"))
      << why_not_open().text;
}

TEST_F(redis_sentinel_reasons, a_sentinel_that_lacked_a_descriptor_may_still_answer) {
  net.descriptors = 2;
  pass();
  for (const std::size_t n : lines_to("s1")) net.close(n);
  EXPECT_FALSE(why_not_open().code);
  EXPECT_EQ(why_not_open(true).code, errc::unavailable);
}

}  // namespace
}  // namespace holdfast::redis
