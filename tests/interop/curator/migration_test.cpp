// The Java and the C++ program of docs/from-curator.md, on one lock at the same time.
#include "tests/interop/migration.hpp"

#include "testkit/peers/curator_peer.hpp"
#include "tests/interop/zookeeper/fixture.hpp"

namespace holdfast::zookeeper_wire {
namespace {

class curator_migration : public with_curator {};

TEST_F(curator_migration, programs_of_both_libraries_lose_no_update) {
  const zookeeper_server server;
  interop_test::migration{"curator", testkit::curator_peer::class_path(), HOLDFAST_FROM_CURATOR,
                          address_of(server), server.url()}
      .run();
}

TEST(curator_listings, are_the_programs_that_are_tried) {
  interop_test::expect_listings("curator");
}

}  // namespace
}  // namespace holdfast::zookeeper_wire
