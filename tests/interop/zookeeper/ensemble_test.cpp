// holdfast with Curator, and with kazoo, on an ensemble of three whose leader is killed.
#include <holdfast/holdfast.hpp>

#include <future>

#include "testkit/servers/zookeeper_ensemble.hpp"
#include "tests/interop/zookeeper/fixture.hpp"

namespace holdfast::zookeeper_wire {
namespace {

using testkit::zookeeper_ensemble;

// All cases are one process.
zookeeper_ensemble& three_servers() {
  static zookeeper_ensemble all(
      {.tick = std::chrono::milliseconds(500), .config = {"maxSessionTimeout=60000"}});
  return all;
}

struct peer_of_three {
  testkit::line_peer& peer;
  std::string session;     // its option for one that outlasts an election
  std::string type, name;  // of its lock
  std::string layout;      // of ours
};

// Ours holds and the other library waits, then the other way round. The leader is killed meanwhile.
void exclude_and_wake_each_other(const peer_of_three& with) {
  zookeeper_ensemble& all = three_servers();
  const std::string scheme = "zookeeper://";
  const peer_client theirs(with.peer, all.url().substr(scheme.size()), with.session);
  const client ours =
      client::open(all.url() + "?session-timeout=1m&op-timeout=1m&layout=" + with.layout);
  const mutex ours_of(ours, with.name);
  const std::string lock = with.type + " /" + with.name;
  lease held = ours_of.acquire();
  const call waiting = theirs.send("t", "lock " + lock);
  const auto are_both_queued = [&] {
    const std::string names = theirs.names("/" + with.name);
    return !names.starts_with("failed") && names.find(' ') != names.npos;
  };
  const auto waits = [&] { return are_both_queued() && theirs.is_asleep("t"); };
  EXPECT_TRUE(eventually(waits));
  const int killed = all.leader();
  all.at(killed).kill_hard();
  // On a busy machine an election takes half a minute.
  EXPECT_TRUE(eventually(waits) || eventually(waits));
  EXPECT_TRUE(waiting.pending());
  EXPECT_TRUE(held.held());
  held.release();
  EXPECT_EQ(text_of(waiting.wait()), "");

  auto next = std::async(std::launch::async, [&] { return ours_of.acquire(); });
  EXPECT_TRUE(eventually(are_both_queued));
  EXPECT_NE(next.wait_for(std::chrono::milliseconds(0)), std::future_status::ready);
  all.at(killed).start();
  EXPECT_NE(theirs.ask("t", "unlock " + lock).substr(0, 6), "failed");
  EXPECT_TRUE(next.get().held());
}

class zookeeper_peers : public with_both {};

TEST_F(zookeeper_peers, of_curator_on_ensemble_whose_leader_dies) {
  exclude_and_wake_each_other({curator(), "session=60000", "mutex", "with-curator", "curator"});
}

TEST_F(zookeeper_peers, of_kazoo_on_ensemble_whose_leader_dies) {
  exclude_and_wake_each_other({kazoo(), "60000", "lock", "with-kazoo", "kazoo"});
}

}  // namespace
}  // namespace holdfast::zookeeper_wire
