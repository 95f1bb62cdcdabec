// A server that is away or silent: it is logged, and holds no caller up for longer than agreed.
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "tests/unit/backend/redis/on_model.hpp"

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;

using lines = std::vector<std::string>;

void take(log_level, std::string_view line, void* to) {
  static_cast<lines*>(to)->emplace_back(line);
}

TEST(redis_outage, is_logged_by_the_hook_of_its_client) {
  lines of_process, of_client;
  set_log_hook(&take, &of_process);
  {
    on_model world;
    const client c = detail::client_access::open(url::parse("redis://model:1"),
                                                 {.log = &take, .log_context = &of_client}, world);
    const lease held = c.mutex("job").acquire();
    world.refuses_connections = true;
    world.model.restart(sim::kept::everything);
    world.pass(3s);
    world.refuses_connections = false;
    world.pass(3s);
    EXPECT_TRUE(held.held());
  }
  set_log_hook(nullptr);
  ASSERT_FALSE(of_client.empty());
  EXPECT_NE(of_client.front().find("the connection is lost"), std::string::npos);
  EXPECT_NE(of_client.back().find("connected again"), std::string::npos);
  EXPECT_EQ(of_process, lines());
}

TEST(redis_log, names_a_lock_that_was_gone_when_its_lease_ended) {
  lines heard;
  on_model world;
  const client c = detail::client_access::open(url::parse("redis://model:1"),
                                               {.log = &take, .log_context = &heard}, world);
  {
    const lease held = c.mutex("job").acquire();
    world.command({"DEL", "job"});
  }
  world.pass(1s);
  ASSERT_EQ(heard.size(), 1u);
  EXPECT_EQ(heard.front(), "release \"job\" at redis://model:1: the lock is not held");
}

// A verb of a holder whose server has fallen silent; the op-timeout is 4 s.
template <class Verb>
void expect_unknown_after_op_timeout(Verb verb) {
  on_model world;
  const client c = world.open("ttl=20s&op-timeout=4s");
  lease held = c.mutex("job").acquire();
  world.stopped = {&world.model};
  const base::time_point begun = world.now();
  std::error_code ec;
  verb(held, ec);
  EXPECT_EQ(ec, errc::outcome_unknown);
  EXPECT_EQ(world.now() - begun, 4s);
}

TEST(redis_outage, ends_a_release_after_the_op_timeout) {
  expect_unknown_after_op_timeout([](lease& held, std::error_code& ec) { held.release(ec); });
}

TEST(redis_outage, ends_an_extension_after_the_op_timeout) {
  expect_unknown_after_op_timeout([](lease& held, std::error_code& ec) { held.extend(1min, ec); });
}

// Its numbers begin above those of before, which has to be written first.
TEST(redis_outage, a_lock_that_a_full_disk_kept_from_its_number_is_granted_once_there_is_room) {
  on_model world;
  world.model.set_disk_full(true);
  const client c = world.open();
  const base::time_point begun = world.now();
  world.at(3s, [&] { world.model.set_disk_full(false); });
  EXPECT_TRUE(c.mutex("job").try_acquire_for(1min));
  EXPECT_LE(world.now() - begun, 10s);
}

}  // namespace
}  // namespace holdfast::redis
