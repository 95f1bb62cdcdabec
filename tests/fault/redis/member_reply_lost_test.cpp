// As reply_lost_test.cpp, for readers, permits, a downgrade, and several locks at once.
#include <algorithm>

#include "claims.hpp"
#include "every_byte.hpp"

namespace holdfast::redis_test {
namespace {

class redis_member_reply_lost : public on_redis {};

struct two_peers {
  redis_server server;
  tcp_proxy proxy{server.port()};
  peer mine{proxy.url() + quick_with("ttl=10m")};
  peer other{server.url() + quick_with("ttl=10m")};

  bool is_free(const char* name = "x") { return server.command({"EXISTS", name}).number == 0; }
};

void comes_in_and_goes_whatever_is_cut(direction d, const seam::acquire_request& how) {
  two_peers on;
  std::int64_t last = 0;
  at_every_byte(on.proxy, d, [&](auto cut) {
    test_claim one(on.mine, "x");
    cut();
    if (one.get(how)) {
      EXPECT_GT(one.number(), last);
      last = one.number();
      EXPECT_TRUE(one.release());
    } else {
      EXPECT_EQ(one.heard.failure().code, errc::unavailable) << one.heard.failure().text;
    }
    EXPECT_TRUE(eventually([&] { return on.is_free(); }));
  });
}

TEST_F(redis_member_reply_lost, of_a_reader_that_comes_in) {
  comes_in_and_goes_whatever_is_cut(direction::to_client, reading());
}
TEST_F(redis_member_reply_lost, or_the_request_of_a_reader) {
  comes_in_and_goes_whatever_is_cut(direction::to_server, reading());
}
TEST_F(redis_member_reply_lost, of_a_request_for_permits) {
  comes_in_and_goes_whatever_is_cut(direction::to_client, permits(2, 3));
}

TEST_F(redis_member_reply_lost, of_the_release_of_a_member) {
  for (const seam::acquire_request& how : {reading(), permits(2, 3)}) {
    two_peers on;
    at_every_byte(on.proxy, direction::to_client, [&](auto cut) {
      test_claim one(on.mine, "x"), stays(on.other, "x");
      ASSERT_TRUE(one.get(how));
      ASSERT_TRUE(stays.get(how.mode == lock_mode::permit ? permits(1, 3) : how));
      cut();
      one.release();
      EXPECT_TRUE(eventually([&] {
        return on.server.command({"ZCARD", "holdfast:{x}:x:r"}).number == 1;
      }));
      EXPECT_TRUE(stays.renew(30s));
      EXPECT_TRUE(stays.release());
      EXPECT_TRUE(on.is_free());
    });
  }
}

void downgrades_whatever_is_cut(direction d) {
  two_peers on;
  at_every_byte(on.proxy, d, [&](auto cut) {
    test_claim writer(on.mine, "x"), reader(on.other, "x");
    ASSERT_TRUE(writer.get(alone()));
    cut();
    writer.downgrade();
    ASSERT_TRUE(reader.get(reading()));
    ASSERT_TRUE(reader.renew(30s));  // it was handed over for a moment
    EXPECT_EQ(reader.number(), writer.number());
    EXPECT_EQ(reader.owner(), writer.owner());
    EXPECT_TRUE(writer.renew(30s));
    writer.release();  // whose outcome may stay unknown
    EXPECT_TRUE(reader.release());
    EXPECT_TRUE(eventually([&] { return on.is_free(); }));
  });
}

TEST_F(redis_member_reply_lost, of_a_downgrade) {
  downgrades_whatever_is_cut(direction::to_client);
}
TEST_F(redis_member_reply_lost, or_the_request_of_a_downgrade) {
  downgrades_whatever_is_cut(direction::to_server);
}

void gathers_whatever_is_cut(direction d) {
  two_peers on;
  at_every_byte(on.proxy, d, [&](auto cut) {
    seam::acquire_request how = once(alone());
    how.group = seam::lock_group::of(2);
    {
      test_claim one(on.mine, "x"), two(on.mine, "y");
      cut();
      one.ask(how);
      two.ask(how);
      one.heard.hears_any("gr");
      two.heard.hears_any("gr");
      EXPECT_EQ(one.is_granted(), two.is_granted());
      if (!one.is_granted()) {
        EXPECT_EQ(one.heard.failure().code, errc::unavailable) << one.heard.failure().text;
      }
    }
    EXPECT_TRUE(eventually([&] { return on.is_free("x") && on.is_free("y"); }));
  });
}

TEST_F(redis_member_reply_lost, of_several_locks_at_once) {
  gathers_whatever_is_cut(direction::to_client);
}
TEST_F(redis_member_reply_lost, or_the_request_of_several_locks) {
  gathers_whatever_is_cut(direction::to_server);
}

}  // namespace
}  // namespace holdfast::redis_test
