// The Java and the C++ program of docs/from-redisson.md, on one lock at the same time.
#include "tests/interop/migration.hpp"

#include "tests/interop/redisson/fixture.hpp"

namespace holdfast::redisson_test {
namespace {

class redisson_migration : public with_redisson {};

TEST_F(redisson_migration, programs_of_both_libraries_lose_no_update) {
  const redis_server server;
  interop_test::migration{"redisson", testkit::redisson_peer::class_path(), HOLDFAST_FROM_REDISSON,
                          server.url(), server.url()}
      .run();
}

TEST(redisson_listings, are_the_programs_that_are_tried) {
  interop_test::expect_listings("redisson");
}

}  // namespace
}  // namespace holdfast::redisson_test
