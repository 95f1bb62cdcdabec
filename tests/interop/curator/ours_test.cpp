// The requests of layout `curator`, and the nodes it leaves, compared with Curator's
// (wire_test.cpp).
#include <holdfast/holdfast.hpp>

#include "tests/interop/zookeeper/fixture.hpp"

namespace holdfast::zookeeper_wire {
namespace {

class curator_layout_wire : public with_curator {};

// The session is renewed by two requests, however often: that depends on how long the test takes.
std::string without_renewals(std::string requests) {
  const std::string renewal = "unknown\nmulti\n";
  for (std::size_t at; (at = requests.find(renewal)) != requests.npos;)
    requests.erase(at, renewal.size());
  return requests;
}

TEST_F(curator_layout_wire, mutex_is_a_node_like_curators_for_fewer_requests) {
  const zookeeper_server server;
  request_log log(server.port());
  const peer_client theirs(curator(), address_of(server));
  const auto mine = client::open("zookeeper://" + log.address());
  auto held = mine.mutex("x").acquire();
  const std::string node = "/x/" + theirs.names("/x");
  EXPECT_EQ(theirs.children("/x"), "_c_<uuid>-lock-0000000000");
  EXPECT_EQ(theirs.ask("owner " + node).substr(0, 2), "0x");
  EXPECT_NE(theirs.ask("owner " + node), "0x0");
  EXPECT_EQ(theirs.ask("owner /x"), "0x0");
  EXPECT_EQ(theirs.ask("participants mutex /x"), node.substr(3));
  held.release();
  EXPECT_EQ(theirs.children("/x"), "");
  log.take();
  held = mine.mutex("x").acquire();
  held.release();
  const std::string entered =
      "create2 /x/_c_<uuid>-lock- ephemeral-sequential with data\nexists /x\n";
  EXPECT_EQ(without_renewals(log.take()), entered + "delete /x/_c_<uuid>-lock-0000000001\n");
  EXPECT_EQ(theirs.ask("t", "lock mutex /x"), "");
  EXPECT_FALSE(mine.mutex("x").try_acquire());
  std::string sent;  // a refused attempt's node is deleted in the background
  EXPECT_TRUE(eventually([&] {
    sent += log.take();
    return without_renewals(sent) ==
           entered + "get_children2 /x\ndelete /x/_c_<uuid>-lock-0000000003\n";
  })) << sent;
}

}  // namespace
}  // namespace holdfast::zookeeper_wire
