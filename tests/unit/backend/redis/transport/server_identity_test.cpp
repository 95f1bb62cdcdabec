#include "backend/redis/transport/server_identity.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <string_view>

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;

TEST(redis_server_identity, is_read_from_what_the_server_says) {
  server_identity s;
  read_server("# Server\r\nrun_id:0123456789abcdef\r\n", s);
  read_replication("# Replication\r\nrole:master\r\nconnected_slaves:2\r\n"
                   "slave0:ip=10.0.0.2,port=6380,state=online,offset=88,lag=0\r\n"
                   "slave1:ip=10.0.0.3,port=6381,state=wait_bgsave,offset=0,lag=0\r\n"
                   "slave2:ip=10.0.0.4,port=6380,state=online,offset=88,lag=-3\r\n"
                   "slave3:ip=10.0.0.5,port=6380,state=online,offset=88\r\n"
                   "slave4:ip=10.0.0.6,port=6380,state=online,offset=88,lag=7\r\n"
                   "master_replid:aaaa\r\nmaster_replid2:0000000000\r\n",
                   s);
  read_own_end("id=3 addr=127.0.0.1:5000 laddr=10.0.0.1:6379 fd=8 name=", s);
  EXPECT_EQ(s.run_id, "0123456789abcdef");
  EXPECT_EQ(short_id(s.run_id), "01234567");
  EXPECT_EQ(s.role, server_role::master);
  EXPECT_EQ(s.history, "aaaa");
  EXPECT_EQ(s.history_before, "");
  EXPECT_EQ(s.address, "10.0.0.1:6379");
  ASSERT_EQ(s.replicas.size(), 2u);
  EXPECT_EQ(s.replicas[0].address, "10.0.0.2:6380");
  EXPECT_EQ(s.replicas[0].silence, 1s);
  EXPECT_EQ(s.replicas[1].address, "10.0.0.6:6380");
  EXPECT_EQ(s.replicas[1].silence, 8s);
}

TEST(redis_server_identity, is_unknown_where_the_server_says_nothing) {
  server_identity s;
  read_server("", s);
  read_replication("# Replication\r\n\r\n", s);
  read_own_end("", s);
  EXPECT_FALSE(s.is_known());
  EXPECT_EQ(s.role, server_role::unknown);
  EXPECT_EQ(s.history, "");
  EXPECT_EQ(s.address, "");
}

TEST(redis_server_identity, has_sharded_channels_from_version_7_on) {
  const auto has = [](std::string_view version) {
    server_identity s;
    read_version(version, s);
    return s.has_sharded_channels;
  };
  EXPECT_TRUE(has("7.0.0"));
  EXPECT_TRUE(has("10.1"));
  EXPECT_FALSE(has("6.2.14"));
  EXPECT_FALSE(has(""));
}

TEST(redis_server_identity, is_that_of_a_sentinel_in_redis_and_in_valkey) {
  const auto is_sentinel = [](std::string_view info) {
    server_identity s;
    read_server(info, s);
    return s.is_sentinel;
  };
  EXPECT_TRUE(is_sentinel("redis_mode:sentinel\r\n"));
  EXPECT_TRUE(is_sentinel("server_mode:sentinel\r\n"));
  EXPECT_FALSE(is_sentinel("redis_mode:cluster\r\n"));
  EXPECT_FALSE(is_sentinel("mode:sentinel\r\n"));
}

TEST(redis_server_identity, lists_64_replicas_at_most) {
  std::string info = "role:slave\r\n";
  for (int i = 0; i < 65; ++i)
    info += "slave" + std::to_string(i) + ":ip=h,port=" + std::to_string(i) +
            ",state=online,offset=1,lag=0\r\n";
  server_identity s;
  read_replication(info, s);
  ASSERT_EQ(s.replicas.size(), 64u);
  EXPECT_EQ(s.replicas.back().address, "h:63");
  EXPECT_EQ(s.role, server_role::replica);
}

}  // namespace
}  // namespace holdfast::redis
