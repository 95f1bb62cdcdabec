// The locks of the real kazoo by what they send and what they leave at the server: what the layouts
// `kazoo` and `kazoo-rw` have to write, and what they may meet.
#include "tests/interop/zookeeper/fixture.hpp"

namespace holdfast::zookeeper_wire {
namespace {

struct logged_kazoo {
  zookeeper_server server;
  request_log log{server.port()};
  peer_client c{kazoo(), log.address()}, other{kazoo(), address_of(server)};

  std::string sent_by(const std::string& words, const std::string& answer) {
    log.take();
    EXPECT_EQ(c.ask("t", words), answer) << words;
    return log.take();
  }
};

class kazoo_wire : public with_kazoo {};

std::string kazoo_created(const std::string& path) {
  return "create " + path + " ephemeral-sequential with data\n";
}

TEST_F(kazoo_wire, lock_is_a_child_with_the_name_of_its_object) {
  logged_kazoo on;
  const std::string queued = kazoo_created("/a/x/<hex>__lock__") + "get_children /a/x\n";
  EXPECT_EQ(on.sent_by("lock lock /a/x", ""),
            "exists /a/x\nexists /a\nexists /\n"
            "create /a persistent without data\ncreate /a/x persistent without data\n" +
                queued);
  EXPECT_EQ(on.other.children("/a/x"), "<hex>__lock__0000000000");
  const std::string first = on.other.names("/a/x");
  EXPECT_EQ(on.other.ask("data /a/x/" + first), "t");
  EXPECT_EQ(on.sent_by("unlock lock /a/x", "True"), "delete /a/x/<hex>__lock__0000000000\n");
  EXPECT_EQ(on.sent_by("lock lock /a/x", ""), "get_children /a/x\n" + queued);
  EXPECT_EQ(on.other.names("/a/x").substr(0, 32), first.substr(0, 32));
  EXPECT_EQ(on.other.ask("o", "try lock /a/x 0"), "False");
  const call waiting = on.other.send("o", "lock lock /a/x");
  EXPECT_TRUE(eventually([&] { return on.other.is_asleep("o"); }));
  EXPECT_EQ(on.other.ask("contenders lock /a/x"), "t o");
  EXPECT_EQ(on.c.ask("t", "unlock lock /a/x"), "True");
  EXPECT_EQ(text_of(waiting.wait()), "");
  on.log.take();
  const call again = on.c.send("t", "lock lock /a/x");
  EXPECT_TRUE(eventually([&] { return on.c.is_asleep("t"); }));
  EXPECT_EQ(on.log.take(),
            "get_children /a/x\n" + queued + "get_data /a/x/<hex>__lock__0000000003 watch\n");
  EXPECT_EQ(on.other.ask("o", "unlock lock /a/x"), "True");
  EXPECT_EQ(text_of(again.wait()), "");
  EXPECT_EQ(on.log.take(), "get_children /a/x\n");
}

TEST_F(kazoo_wire, readers_have_a_name_of_their_own_and_writers_that_of_a_lock) {
  logged_kazoo on;
  EXPECT_EQ(on.sent_by("lock read /x", ""),
            "exists /x\nexists /\ncreate /x persistent without data\n" +
                kazoo_created("/x/<hex>__rlock__") + "get_children /x\n");
  const call writer = on.other.send("w", "lock write /x");
  EXPECT_TRUE(eventually([&] { return on.other.is_asleep("w"); }));
  EXPECT_EQ(on.other.children("/x"), "<hex>__rlock__0000000000 <hex>__lock__0000000001");
  EXPECT_EQ(on.other.ask("r", "try read /x 0"), "False");
  EXPECT_EQ(on.other.ask("p", "try lock /x 0"), "False");
  EXPECT_EQ(on.sent_by("unlock read /x", "True"), "delete /x/<hex>__rlock__0000000000\n");
  EXPECT_EQ(text_of(writer.wait()), "");
}

TEST_F(kazoo_wire, semaphore_keeps_its_count_as_data_and_a_lock_beside_it) {
  logged_kazoo on;
  EXPECT_EQ(on.c.ask("t", "lock semaphore:1 /x"), "");
  EXPECT_EQ(on.other.children("/x"), "<hex>");
  EXPECT_EQ(on.other.ask("data /x"), "1");
  EXPECT_EQ(on.other.children("/"), "x x-__lock__ zookeeper");
  EXPECT_EQ(on.other.ask("t", "try semaphore:1 /x 0"), "False");
  EXPECT_EQ(on.c.ask("u", "try semaphore:2 /x 0"),
            "failed: ValueError: Inconsistent max leases: 1, expected: 2");
  EXPECT_EQ(on.sent_by("unlock semaphore:1 /x", "True"), "delete /x/<hex>\n");
}

TEST_F(kazoo_wire, lost_session_is_not_noticed_by_its_lock) {
  logged_kazoo on;
  EXPECT_EQ(on.c.ask("t", "lock lock /x"), "");
  on.c.lose_session();
  EXPECT_EQ(on.other.children("/x"), "");
  EXPECT_EQ(on.other.ask("t", "try lock /x 0"), "True");
  EXPECT_EQ(on.c.ask("t", "held lock /x"), "True");
  EXPECT_EQ(on.c.ask("t", "unlock lock /x"), "True");
  EXPECT_EQ(on.other.ask("t", "held lock /x"), "True");
}

class kazoo_and_curator : public with_both {};

TEST_F(kazoo_and_curator, see_each_other_by_extra_patterns_and_names_only) {
  zookeeper_server server;
  const peer_client python(kazoo(), address_of(server)), java(curator(), address_of(server));
  EXPECT_EQ(java.ask("t", "lock mutex /x"), "");
  EXPECT_EQ(python.ask("t", "try lock /x 0"), "True");  // both hold it
  EXPECT_EQ(python.ask("t", "unlock lock /x"), "True");
  EXPECT_EQ(python.ask("t", "try lock+-lock- /x 0"), "False");
  EXPECT_EQ(python.ask("t", "try curator /x 0"), "False");
  EXPECT_EQ(java.ask("t", "unlock mutex /x"), "");
  EXPECT_EQ(python.ask("t", "try lock+-lock- /x 0"), "True");
  EXPECT_EQ(java.ask("t", "try mutex /x 0"), "true");  // both hold it
  EXPECT_EQ(java.ask("t", "unlock mutex /x"), "");
  EXPECT_EQ(python.ask("t", "unlock lock+-lock- /x"), "True");
  EXPECT_EQ(python.ask("t", "lock curator /x"), "");
  EXPECT_EQ(java.ask("t", "try mutex /x 0"), "false");
  EXPECT_EQ(python.ask("t", "unlock curator /x"), "True");
  EXPECT_EQ(java.ask("t", "lock write /y"), "");
  EXPECT_EQ(python.ask("t", "try read /y 0"), "True");
  EXPECT_EQ(python.ask("t", "unlock read /y"), "True");
  EXPECT_EQ(python.ask("t", "try read+__WRIT__ /y 0"), "False");
}

}  // namespace
}  // namespace holdfast::zookeeper_wire
