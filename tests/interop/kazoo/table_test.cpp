// holdfast and the real kazoo on one lock: each type of lock, in both directions.
#include "tests/interop/zookeeper/table.hpp"

namespace holdfast::zookeeper_wire {
namespace {

class kazoo_table : public with_kazoo {
 protected:
  zookeeper_server server_;
};

TEST_F(kazoo_table, lock) {
  result_table into("kazoo");
  const queue_view nodes(kazoo(), server_, "/x", "/x");
  const kind k{library::kazoo, "lock", "kazoo"};
  try_everything(server_, nodes, into, k, k);
  serve_in_order(server_, nodes, into, k);
  count_together(server_, nodes, into, k);
}

TEST_F(kazoo_table, rw) {
  result_table into("kazoo-rw");
  const queue_view nodes(kazoo(), server_, "/x", "/x");
  const kind write{library::kazoo, "write", "kazoo-rw"}, read{library::kazoo, "read", "kazoo-rw"};
  try_everything(server_, nodes, into, write, write);
  try_everything(server_, nodes, into, write, read);
  try_everything(server_, nodes, into, read, write);
  both_ways(server_, nodes, into, read, read, [](const direction& d) { d.sharing(); });
  serve_in_order(server_, nodes, into, write);
  count_together(server_, nodes, into, write);
}

// It counts every child of its node, whatever that is, and its own leases are no nodes of ours.
TEST_F(kazoo_table, semaphore_is_of_no_layout_of_ours) {
  result_table into("curator-semaphore");
  const client ours = client::open(server_.url() + "?layout=curator-semaphore");
  const peer_client theirs(kazoo(), address_of(server_));
  const semaphore permit(ours, "x", 1);
  lease held = permit.acquire();
  EXPECT_EQ(theirs.ask("t", "try semaphore:3 /x 0"), "True") << "the only permit of ours is held";
  held.release();
  EXPECT_TRUE(permit.try_acquire()) << "kazoo has a lease";
  EXPECT_EQ(theirs.ask("t", "unlock semaphore:3 /x"), "True");
  held = permit.acquire();
  EXPECT_EQ(theirs.ask("u", "try semaphore:1 /x 0"), "False") << "it takes `leases` for a lease";
  into.add("semaphore", "holdfast", "kazoo", "exclusion", "none, as known");
}

// kazoo with its own names is not seen by Curator, nor by what writes as Curator does; with
// Curator's names both ways.
TEST_F(kazoo_table, curator_layout_and_kazoo) {
  result_table into("curator");
  const queue_view nodes(kazoo(), server_, "/x", "/x");
  const kind by_name{library::kazoo, "curator", "curator"};
  both_ways(server_, nodes, into, by_name, by_name, [](const direction& d) {
    d.exclusion();
    d.wake_up();
  });
  const kind plain{library::kazoo, "lock", "curator"};
  both_ways(server_, nodes, into, plain, plain, [](const direction& d) {
    d.holder.hold();
    EXPECT_TRUE(d.waiter.try_once());
    EXPECT_TRUE(d.holder.release());
    d.add("exclusion", "none, as known");
  });
  const kind with_pattern{library::kazoo, "lock+-lock-", "curator"};
  both_ways(server_, nodes, into, with_pattern, with_pattern, [](const direction& d) {
    const bool is_seen = d.holder.name() == "holdfast";
    d.holder.hold();
    EXPECT_EQ(d.waiter.try_once(), !is_seen);
    EXPECT_TRUE(d.holder.release());
    d.add("exclusion", is_seen ? "yes" : "none, as known");
  });
}

}  // namespace
}  // namespace holdfast::zookeeper_wire
