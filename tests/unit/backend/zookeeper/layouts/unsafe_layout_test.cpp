// The warning about a layout that is only a demonstration.
#include <gtest/gtest.h>

#include "testkit/heard_warnings.hpp"
#include "tests/unit/backend/zookeeper/layouts/layout_fixture.hpp"

namespace holdfast::zookeeper_unit {
namespace {

TEST(zookeeper_unsafe_layout, is_reported_when_its_client_is_opened) {
  testkit::heard_warnings heard;
  const layout_fixture opened("layout=node&unsafe=1");
  EXPECT_EQ(heard.that_mention("layout=node is a demonstration and not safe"), 1u) << heard.text();
}

TEST(zookeeper_unsafe_layout, is_none_of_the_others) {
  testkit::heard_warnings heard;
  for (const char* const layout : {"", "layout=kazoo", "layout=curator-semaphore"})
    const layout_fixture opened(layout);
  EXPECT_EQ(heard.text(), "");
}

}  // namespace
}  // namespace holdfast::zookeeper_unit
