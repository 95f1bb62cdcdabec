// renew.lua, renew_members.lua and resolve.lua on the model of Redis: a refusal concerns one member
// alone, and what arrives late shortens no lease.
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "backend/redis/layouts/scripts.hpp"
#include "tests/sim/redis/model/model_redis.hpp"

namespace holdfast::redis {
namespace {

class redis_renewal_of_members : public testing::Test, private sim::peer {
 protected:
  // The states in the reply to one call that renews the members of "a" and of "b".
  std::string renewed(std::string_view of_a, std::string_view of_b) {
    const std::string reply = run({"EVAL", string::scripts::renew_members.text, "6", "a", "a:r",
                                   "a:m", "b", "b:r", "b:m", of_a, ttl, "", of_b, ttl, ""});
    const std::size_t after_time = reply.find("\r\n", reply.find(':'));
    return reply.starts_with('*') ? reply.substr(after_time + 2) : reply;
  }
  std::string run(std::vector<std::string_view> argv) { return model.execute(connection, argv); }
  std::string end_in(std::chrono::milliseconds rest) {
    return std::to_string(std::chrono::microseconds(now + rest).count());
  }

  static constexpr std::string_view ttl = "30000", one = "hfp:1", two = "hfp:2";
  std::chrono::microseconds now{1'700'000'000'000'000};
  sim::model_redis model{[this] { return now; }};
  const int connection = model.connect(*this);

 private:
  void deliver(std::string_view) override {}
  void kicked() override {}
};

TEST_F(redis_renewal_of_members, goes_on_behind_a_set_of_another_type) {
  run({"SET", "a", "hfp:3", "PX", "10000"});
  run({"SET", "a:r", "no set"});
  run({"SET", "b", "hfp:3", "PX", "10000"});
  run({"ZADD", "b:r", end_in(std::chrono::seconds{10}), two});
  EXPECT_EQ(renewed(one, two), ":-1\r\n:1\r\n");
  EXPECT_EQ(run({"PTTL", "b"}), ":30001\r\n");
}

TEST_F(redis_renewal_of_members, goes_on_where_one_must_not_be_added) {
  run({"SET", "a", "hfp:3", "PX", "20000"});
  run({"ZADD", "a:r", end_in(std::chrono::seconds{10}), one});
  run({"ZADD", "a:r", end_in(std::chrono::seconds{20}), two});
  run({"SET", "b", "hf1:writer", "PX", "10000"});
  model.forbid("zadd");
  EXPECT_EQ(renewed(one, "hfs:writer"), ":-1\r\n:1\r\n");
  EXPECT_EQ(run({"PTTL", "a"}), ":20001\r\n") << "as long as the last member";
  EXPECT_EQ(run({"PTTL", "b"}), ":30000\r\n");
}

TEST_F(redis_renewal_of_members, shortens_no_lease) {
  run({"SET", "a", "hfp:3", "PX", "60000"});
  run({"ZADD", "a:r", end_in(std::chrono::seconds{60}), one});
  run({"SET", "b", "hf1:writer", "PX", "70000"});
  EXPECT_EQ(renewed(one, "hfs:writer"), ":1\r\n:1\r\n");
  EXPECT_EQ(run({"PTTL", "a"}), ":60001\r\n");
  EXPECT_EQ(run({"ZSCORE", "a:r", one}), "$16\r\n" + end_in(std::chrono::seconds{60}) + "\r\n");
  EXPECT_EQ(run({"PTTL", "b"}), ":70000\r\n");
}

TEST_F(redis_renewal_of_members, or_of_an_exclusive_holder_shortens_no_lease) {
  const auto pttl_after = [&](std::string_view script, std::vector<std::string_view> arguments) {
    arguments.insert(arguments.begin(), {"EVAL", script});
    run(arguments);
    return run({"PTTL", "a"});
  };
  const auto renew = string::scripts::renew.text, resolve = string::scripts::resolve.text;
  run({"SET", "a", "hf1:me", "PX", "60000"});
  EXPECT_EQ(pttl_after(renew, {"2", "a", "a:m", "hf1:me", ttl, ""}), ":60000\r\n");
  EXPECT_EQ(pttl_after(renew, {"2", "a", "a:m", "hf1:me", "90000", ""}), ":90000\r\n");
  EXPECT_EQ(pttl_after(resolve, {"6", "a", "a:q", "a:m", "n", "a:r", "a:p", "hf1:me", ttl, ""}),
            ":90000\r\n");
}

}  // namespace
}  // namespace holdfast::redis
