#include "backend/zookeeper/layouts/lock_path.hpp"

#include <gtest/gtest.h>

#include <string>

namespace holdfast::zookeeper::layout_tests {
namespace {

TEST(zookeeper_lock_path, is_one_node_below_the_chroot) {
  EXPECT_EQ(lock_path("", "job"), "/job");
  EXPECT_EQ(lock_path("/locks/mine", "job"), "/locks/mine/job");
  EXPECT_EQ(lock_path("", "a/b"), "/a%2Fb");
  EXPECT_EQ(lock_path("", "/"), "/%2F");
  EXPECT_EQ(lock_path("", "a b!(1)"), "/a b!(1)");
}

TEST(zookeeper_lock_path, no_name_stands_for_another_node) {
  EXPECT_EQ(lock_path("", "."), "/%2E");
  EXPECT_EQ(lock_path("", ".."), "/%2E%2E");
  EXPECT_EQ(lock_path("", "..."), "/...");
  EXPECT_EQ(lock_path("", "%2E"), "/%252E");
}

TEST(zookeeper_lock_path, the_name_is_read_back) {
  for (const std::string name : {"job", "a/b", ".", "..", "...", "%2E", "100%", "a b",
                                 "\xc3\xa4\xe2\x82\xac", "~", "?x=y"}) {
    const std::string path = lock_path("/c", name);
    EXPECT_EQ(path.find('/', 3), std::string::npos) << path;
    EXPECT_EQ(lock_name(path.substr(3)), name) << path;
  }
}

TEST(zookeeper_lock_path, the_servers_own_node_is_no_lock) {
  EXPECT_NE(lock_name_fault("", "zookeeper"), "");
  EXPECT_EQ(lock_name_fault("/c", "zookeeper"), "");
  EXPECT_EQ(lock_name_fault("", "zookeepers"), "");
}

}  // namespace
}  // namespace holdfast::zookeeper::layout_tests
