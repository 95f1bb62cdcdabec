#include "backend/zookeeper/transport/server_list.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "testkit/manual_environment.hpp"

namespace holdfast::zookeeper_unit {
namespace {

using namespace std::chrono_literals;

class zookeeper_servers : public testing::Test {
 protected:
  testkit::manual_environment env;
  zookeeper::server_list servers{{{"a", 1, {}}, {"b", 1, {}}, {"c", 1, {}}}, 100ms, env};
};

TEST_F(zookeeper_servers, are_each_tried_once_without_a_pause) {
  std::set<std::string> tried{servers.current().host};
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(servers.on_failed(), 0ms) << i;
    tried.insert(servers.current().host);
  }
  EXPECT_EQ(tried, (std::set<std::string>{"a", "b", "c"}));
}

TEST_F(zookeeper_servers, are_tried_again_after_pauses_that_double_with_each_round) {
  for (int i = 0; i < 3; ++i) EXPECT_EQ(servers.on_failed(), 0ms);
  for (const base::duration pause : {100ms, 200ms, 400ms, 800ms, 1600ms, 2000ms, 2000ms})
    for (int i = 0; i < 3; ++i) {
      const base::duration chosen = servers.on_failed();
      EXPECT_GE(chosen, pause * 3 / 4) << pause / 1ms;
      EXPECT_LE(chosen, pause * 5 / 4) << pause / 1ms;
    }
}

TEST_F(zookeeper_servers, have_no_pause_after_a_success) {
  for (int i = 0; i < 4; ++i) servers.on_failed();
  servers.on_attached();
  EXPECT_EQ(servers.on_failed(), 0ms);
}

TEST_F(zookeeper_servers, are_in_another_order_for_another_client) {
  std::set<std::string> firsts;
  for (int i = 0; i < 50; ++i)
    firsts.insert(zookeeper::server_list({{"a", 1, {}}, {"b", 1, {}}, {"c", 1, {}}}, 100ms, env)
                      .current()
                      .host);
  EXPECT_EQ(firsts.size(), 3u);
}

}  // namespace
}  // namespace holdfast::zookeeper_unit
