// holdfast and the real Curator on one lock: each type of lock, in both directions.
#include <future>

#include "testkit/thrown_by.hpp"
#include "tests/interop/zookeeper/table.hpp"

namespace holdfast::zookeeper_wire {
namespace {

using namespace std::chrono_literals;

class curator_table : public with_curator {
 protected:
  zookeeper_server server_;
};

TEST_F(curator_table, mutex) {
  result_table into("curator");
  const queue_view nodes(curator(), server_, "/x", "/x");
  const kind k{library::curator, "mutex", "curator"};
  try_everything(server_, nodes, into, k, k);
  serve_in_order(server_, nodes, into, k);
  count_together(server_, nodes, into, k);
}

TEST_F(curator_table, rw) {
  result_table into("curator-rw");
  const queue_view nodes(curator(), server_, "/x", "/x");
  const kind write{library::curator, "write", "curator-rw"},
      read{library::curator, "read", "curator-rw"};
  try_everything(server_, nodes, into, write, write);
  try_everything(server_, nodes, into, write, read);
  try_everything(server_, nodes, into, read, write);
  both_ways(server_, nodes, into, read, read, [](const direction& d) { d.sharing(); });
}

TEST_F(curator_table, rw_in_order) {
  result_table into("curator-rw");
  const queue_view nodes(curator(), server_, "/x", "/x");
  const kind write{library::curator, "write", "curator-rw"};
  serve_in_order(server_, nodes, into, write);
  count_together(server_, nodes, into, write);
}

TEST_F(curator_table, rw_writer_that_waits_stops_later_readers) {
  result_table into("curator-rw");
  const queue_view nodes(curator(), server_, "/x", "/x");
  const kind write{library::curator, "write", "curator-rw"},
      read{library::curator, "read", "curator-rw"};
  both_ways(server_, nodes, into, read, write, [&](const direction& d) {
    const auto late_of_ours = contender_of_ours(server_, read);
    const auto late_of_theirs = contender_of_theirs(server_, read);
    d.holder.hold();
    const auto waiting = d.asleep();
    EXPECT_FALSE(late_of_ours->try_once());
    EXPECT_FALSE(late_of_theirs->try_once());
    EXPECT_TRUE(d.holder.release());
    waiting.get();
    EXPECT_TRUE(d.waiter.release());
    EXPECT_TRUE(late_of_ours->try_once());
    EXPECT_TRUE(late_of_theirs->try_once());
    d.add("later readers", "wait");
  });
}

TEST_F(curator_table, rw_downgrade_admits_readers_and_keeps_its_place_before_writers) {
  if (!curator_keeps_the_place()) GTEST_SKIP() << "skipped: this Curator is older than 5.5";
  result_table into("curator-rw");
  const queue_view nodes(curator(), server_, "/x", "/x");
  const kind write{library::curator, "write", "curator-rw"},
      read{library::curator, "read", "curator-rw"};
  both_ways(server_, nodes, into, write, read, [&](const direction& d) {
    d.holder.hold();
    const auto reader = d.asleep();
    const auto begun = clock::now();
    d.holder.downgrade();
    const auto entered = reader.get();
    EXPECT_TRUE(d.holder.release());
    EXPECT_TRUE(d.waiter.release());
    d.add("downgrade, reader in", ms_text(entered - begun));
  });
  both_ways(server_, nodes, into, write, write, [&](const direction& d) {
    const auto third = contender_of_theirs(server_, write);
    d.holder.hold();
    const auto writer = d.asleep();
    d.holder.downgrade();
    EXPECT_FALSE(third->try_once());
    EXPECT_TRUE(is_pending(writer));
    EXPECT_TRUE(d.holder.release());
    writer.get();
    EXPECT_TRUE(d.waiter.release());
    d.add("downgrade", "the writer waits for the reader");
  });
}

TEST_F(curator_table, semaphore) {
  result_table into("curator-semaphore");
  const queue_view nodes(curator(), server_, "/x/locks", "/x/leases");
  const kind k{library::curator, "semaphore:1", "curator-semaphore", 1};
  try_everything(server_, nodes, into, k, k);
}

TEST_F(curator_table, semaphore_mutex) {
  result_table into("curator-semaphore");
  const queue_view nodes(curator(), server_, "/x/locks", "/x/leases");
  const kind k{library::curator, "semaphoremutex", "curator-semaphore", 1};
  try_everything(server_, nodes, into, k, k);
  serve_in_order(server_, nodes, into, k);
  count_together(server_, nodes, into, k);
}

TEST_F(curator_table, semaphore_is_divided_among_the_clients_of_both) {
  result_table into("curator-semaphore");
  const kind k{library::curator, "semaphore:2", "curator-semaphore", 2};
  const auto mine = contender_of_ours(server_, k), more = contender_of_ours(server_, k);
  const auto theirs = contender_of_theirs(server_, k), others = contender_of_theirs(server_, k);
  mine->hold();
  theirs->hold();
  EXPECT_FALSE(more->try_once());
  EXPECT_FALSE(others->try_once());
  const auto waiting = more->wait();
  EXPECT_TRUE(is_pending(waiting));
  EXPECT_TRUE(theirs->release());
  waiting.get();
  EXPECT_FALSE(others->try_once());
  EXPECT_TRUE(mine->release());
  EXPECT_TRUE(others->try_once());
  EXPECT_TRUE(more->release());
  into.add(k.type, mine->name(), theirs->name(), "2 among 4", "never 3");
}

// Its members are mutexes like all others: holdfast sees each, and its multi_mutex is its like.
TEST_F(curator_table, mutexes_of_a_multi_lock) {
  result_table into("curator");
  const client ours = client::open(server_.url());
  const peer_client theirs(curator(), address_of(server_));
  const std::string multi = "multi /a+/b";
  mutex a(ours, "a"), b(ours, "b");
  const auto excludes = [](const mutex& m) { return !m.try_acquire(); };
  const auto wait_for_all = [&] {
    call waiting = theirs.send("t", "lock " + multi);
    EXPECT_TRUE(eventually([&] { return theirs.is_asleep("t"); }));
    return waiting;
  };
  lease one = b.acquire();
  EXPECT_EQ(theirs.ask("t", "try " + multi + " 0"), "false");
  EXPECT_FALSE(excludes(a)) << "it gave back what it had";
  const call waiting = wait_for_all();
  EXPECT_TRUE(excludes(a)) << "it holds one and waits for the other";
  one.release();
  EXPECT_EQ(text_of(waiting.wait()), "");
  EXPECT_TRUE(excludes(a) && excludes(b));
  into.add("multi / mutex", "Curator", "holdfast", "exclusion, wake-up", "yes");

  const multi_mutex all_of_ours(a, b);
  auto both = std::async(std::launch::async, [&] { return all_of_ours.acquire(); });
  EXPECT_NE(both.wait_for(0ms), std::future_status::ready);
  EXPECT_EQ(theirs.ask("t", "unlock " + multi), "");
  lease_set held = both.get();
  EXPECT_TRUE(held.held());
  EXPECT_EQ(theirs.ask("t", "try " + multi + " 0"), "false");
  const call next = wait_for_all();
  EXPECT_TRUE(next.pending());
  held.release();
  EXPECT_EQ(text_of(next.wait()), "");
  EXPECT_EQ(theirs.ask("t", "unlock " + multi), "");
  into.add("multi / multi_mutex", "holdfast", "Curator", "exclusion, wake-up", "yes");
}

// The children of a mutex have another name than those of a read-write lock. Curator judges each by
// its own name only; holdfast refuses a path that it sees in use as another kind.
TEST_F(curator_table, locks_of_two_types_on_one_path_exclude_nobody_and_are_refused_by_holdfast) {
  result_table into("curator");
  const kind mutex{library::curator, "mutex", "curator"};
  const auto mine = contender_of_ours(server_, mutex);
  const auto theirs = contender_of_theirs(server_, {library::curator, "write", ""});
  mine->hold();
  EXPECT_TRUE(theirs->try_once());
  EXPECT_TRUE(mine->release());
  theirs->hold();
  EXPECT_EQ(testkit::thrown_by([&] { (void)mine->try_once(); }), errc::mismatch);
  EXPECT_TRUE(theirs->release());
  into.add("mutex / write", mine->name(), theirs->name(), "exclusion", "none; ours refuses");
}

}  // namespace
}  // namespace holdfast::zookeeper_wire
