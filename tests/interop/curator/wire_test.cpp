// The locks of the real Curator by what they send and what they leave at the server: what the
// layouts `curator`, `curator-rw` and `curator-semaphore` have to write, and what they may meet.
#include "tests/interop/zookeeper/fixture.hpp"

namespace holdfast::zookeeper_wire {
namespace {

struct logged_client {
  zookeeper_server server;
  request_log log{server.port()};
  peer_client c{curator(), log.address()}, other{curator(), address_of(server)};

  // What the client sends while its thread carries the command out.
  std::string sent_by(const std::string& words, const std::string& answer = "") {
    log.take();
    EXPECT_EQ(c.ask("t", words), answer) << words;
    return log.take();
  }
  // What it sends after `act`, until the command is done.
  template <class Act>
  std::string sent_after(const call& waiting, Act act) {
    log.take();
    act();
    EXPECT_EQ(text_of(waiting.wait()), "");
    return log.take();
  }
  call asleep(const std::string& words) {
    const call waiting = c.send("t", words);
    EXPECT_TRUE(eventually([&] { return c.is_asleep("t"); }));
    return waiting;
  }
};

class curator_wire : public with_curator {};

std::string created(const std::string& path) {
  return "create2 " + path + " ephemeral-sequential with data\n";
}

TEST_F(curator_wire, mutex_is_a_child_that_is_ephemeral_and_sequential) {
  logged_client on;
  const std::string queued = created("/a/x/_c_<uuid>-lock-") + "get_children2 /a/x\n";
  EXPECT_EQ(on.sent_by("lock mutex /a/x"), created("/a/x/_c_<uuid>-lock-") +
                                               "exists /a/x/_c_<uuid>-lock-\n"
                                               "exists /a/x\n"
                                               "exists /a\n"
                                               "create_container /a container without data\n"
                                               "create_container /a/x container without data\n" +
                                               queued);
  EXPECT_EQ(on.other.children("/a/x"), "_c_<uuid>-lock-0000000000");
  const std::string node = "/a/x/" + on.other.names("/a/x");
  EXPECT_EQ(on.other.ask("owner " + node), on.c.ask("session"));
  EXPECT_EQ(on.other.ask("owner /a/x"), "0x0");
  EXPECT_EQ(on.sent_by("lock mutex /a/x"), "");  // a thread's second time
  EXPECT_EQ(on.sent_by("unlock mutex /a/x"), "");
  EXPECT_EQ(on.sent_by("unlock mutex /a/x"), "delete /a/x/_c_<uuid>-lock-0000000000\n");
  EXPECT_EQ(on.sent_by("lock mutex /a/x"), queued);
  EXPECT_EQ(on.other.ask("try mutex /a/x 0"), "false");
  EXPECT_EQ(on.other.children("/a/x"), "_c_<uuid>-lock-0000000001");
  EXPECT_EQ(on.sent_by("unlock mutex /a/x"), "delete /a/x/_c_<uuid>-lock-0000000001\n");
  EXPECT_EQ(on.other.ask("o", "lock mutex /a/x"), "");
  const std::string parked = queued + "get_data /a/x/_c_<uuid>-lock-0000000003 watch\n";
  EXPECT_EQ(on.sent_by("try mutex /a/x 0", "false"),
            parked + "delete /a/x/_c_<uuid>-lock-0000000004\n");
  const call waiting = on.asleep("lock mutex /a/x");
  EXPECT_EQ(on.log.take(), parked);
  const auto release = [&] { on.other.ask("o", "unlock mutex /a/x"); };
  EXPECT_EQ(on.sent_after(waiting, release), "get_children2 /a/x\n");
  EXPECT_EQ(on.sent_by("unlock mutex /a/x"), "delete /a/x/_c_<uuid>-lock-0000000005\n");
}

TEST_F(curator_wire, data_of_a_node_is_the_address_of_its_host) {
  logged_client on;
  EXPECT_EQ(on.c.ask("t", "lock mutex /x"), "");
  EXPECT_EQ(on.c.ask("u", "lock semaphore:1 /s"), "");
  const std::string address = on.other.ask("data /x/" + on.other.names("/x"));
  EXPECT_NE(address.find_first_of(".:"), std::string::npos) << address;
  EXPECT_EQ(address.find_first_not_of("0123456789abcdef.:%"), std::string::npos) << address;
  EXPECT_EQ(on.other.ask("data /s/leases/" + on.other.names("/s/leases")), address);
  EXPECT_EQ(on.other.ask("data /x"), "");
}

TEST_F(curator_wire, revocable_mutex_has_no_data_and_its_node_is_watched_until_its_release) {
  logged_client on;
  EXPECT_EQ(on.other.ask("create /x CONTAINER"), "/x");
  EXPECT_EQ(on.c.ask("revocable mutex /x"), "");
  const std::string own = "/x/_c_<uuid>-lock-0000000000";
  EXPECT_EQ(on.sent_by("lock mutex /x"),
            "create2 /x/_c_<uuid>-lock- ephemeral-sequential without data\n"
            "get_data " +
                own + " watch\nget_children2 /x\n");
  const std::string node = "/x/" + on.other.names("/x");
  EXPECT_EQ(on.other.ask("data " + node), "");
  EXPECT_EQ(on.other.ask("set " + node + " something"), "");
  on.log.take();
  EXPECT_EQ(on.other.ask("revoke " + node), "");
  EXPECT_TRUE(eventually([&] { return on.c.ask("revoked mutex /x") == "1"; }));
  EXPECT_EQ(on.other.ask("data " + node), "__REVOKE__");
  EXPECT_EQ(on.c.ask("t", "mine mutex /x"), "true");
  const std::string sent = on.sent_by("unlock mutex /x");
  EXPECT_TRUE(sent.ends_with("delete " + own + "\n")) << sent;
  EXPECT_EQ(on.sent_by("lock mutex /x"),  // a release ends the request to be told
            created("/x/_c_<uuid>-lock-") + "get_children2 /x\n");
  EXPECT_EQ(on.sent_by("revoke /x/gone"), "set_data /x/gone\n");
}

TEST_F(curator_wire, read_write_lock_has_both_kinds_in_one_queue) {
  if (!curator_keeps_the_place()) GTEST_SKIP() << "skipped: this Curator is older than 5.5";
  logged_client on;
  const std::string listed = "get_children2 /x\n";
  EXPECT_EQ(on.other.ask("create /x CONTAINER"), "/x");
  EXPECT_EQ(on.sent_by("lock write /x"), created("/x/_c_<uuid>-__WRIT__") + listed);
  EXPECT_EQ(on.other.children("/x"), "_c_<uuid>-__WRIT__0000000000");
  const call reader = on.other.send("r", "lock read /x");
  EXPECT_TRUE(eventually([&] { return on.other.is_asleep("r"); }));
  const call writer = on.other.send("w", "lock write /x");
  EXPECT_TRUE(eventually([&] { return on.other.is_asleep("w"); }));
  EXPECT_EQ(on.sent_by("lock read /x"),  // in the writer's place, before those that wait
            "create2 /x/_c_<uuid>-__READ__0000000000 ephemeral with data\n" + listed);
  EXPECT_EQ(on.sent_by("unlock write /x"), "delete /x/_c_<uuid>-__WRIT__0000000000\n");
  EXPECT_EQ(text_of(reader.wait()), "");
  EXPECT_EQ(on.other.children("/x"), "_c_<uuid>-__READ__0000000000 _c_<uuid>-__READ__0000000001 "
                                     "_c_<uuid>-__WRIT__0000000002");
  EXPECT_EQ(on.other.ask("r", "unlock read /x"), "");
  EXPECT_TRUE(writer.pending());
  EXPECT_EQ(on.sent_by("unlock read /x"), "delete /x/_c_<uuid>-__READ__0000000000\n");
  EXPECT_EQ(text_of(writer.wait()), "");
  const call again = on.asleep("lock read /x");
  EXPECT_EQ(on.log.take(), created("/x/_c_<uuid>-__READ__") + listed +
                               "get_data /x/_c_<uuid>-__WRIT__0000000002 watch\n");
  EXPECT_EQ(on.sent_after(again, [&] { on.other.ask("w", "unlock write /x"); }), listed);
}

TEST_F(curator_wire, reader_watches_the_first_of_the_writers_before_it) {
  logged_client on;
  EXPECT_EQ(on.other.ask("a", "lock write /x"), "");
  const call second = on.other.send("b", "lock write /x");
  EXPECT_TRUE(eventually([&] { return on.other.is_asleep("b"); }));
  const call reader = on.asleep("lock read /x");
  EXPECT_TRUE(on.log.take().ends_with("get_data /x/_c_<uuid>-__WRIT__0000000000 watch\n"));
  EXPECT_EQ(on.other.ask("a", "unlock write /x"), "");
  EXPECT_EQ(text_of(second.wait()), "");
  std::string sent;
  EXPECT_TRUE(eventually([&] {
    sent += on.log.take();
    return sent == "get_children2 /x\nget_data /x/_c_<uuid>-__WRIT__0000000001 watch\n";
  })) << sent;
  EXPECT_EQ(on.other.ask("b", "unlock write /x"), "");
  EXPECT_EQ(text_of(reader.wait()), "");
}

// Without the check whether a watch is left, which is sent in the background.
std::string without_checks(std::string lines) {
  for (std::size_t at; (at = lines.find("check_watches")) != std::string::npos;)
    lines.erase(at, lines.find('\n', at) + 1 - at);
  return lines;
}

TEST_F(curator_wire, semaphore_has_leases_and_a_mutex_for_the_queue) {
  logged_client on;
  for (const std::string type : {"semaphoremutex", "semaphore:1"}) {
    SCOPED_TRACE(type);
    const std::string path = type == "semaphoremutex" ? "/m" : "/s", lock = "lock " + type + ' ';
    const std::string unlock = "un" + lock + path, node = path + "/locks/_c_<uuid>-lock-";
    const std::string queued = created(node) + "get_children2 " + path + "/locks\n" +
                               created(path + "/leases/_c_<uuid>-lease-") + "get_children2 " +
                               path + "/leases watch\n";
    EXPECT_EQ(on.c.ask("t", lock + path), "");
    EXPECT_EQ(on.other.children(path), "leases locks");
    EXPECT_EQ(on.other.children(path + "/leases"), "_c_<uuid>-lease-0000000000");
    EXPECT_EQ(on.other.children(path + "/locks"), "");
    EXPECT_EQ(without_checks(on.sent_by(unlock)),
              "delete " + path + "/leases/_c_<uuid>-lease-0000000000\n");
    EXPECT_EQ(without_checks(on.sent_by(lock + path)), queued + "delete " + node + "0000000001\n");
    const call first = on.other.send("a", lock + path);
    EXPECT_TRUE(eventually([&] { return on.other.is_asleep("a"); }));
    EXPECT_EQ(on.other.children(path + "/leases"),
              "_c_<uuid>-lease-0000000001 _c_<uuid>-lease-0000000002");
    EXPECT_EQ(on.other.children(path + "/locks"), "_c_<uuid>-lock-0000000002");
    EXPECT_EQ(on.other.ask("b", "try " + type + ' ' + path + " 0"), "false");
    EXPECT_EQ(on.c.ask("t", unlock), "");
    EXPECT_EQ(text_of(first.wait()), "");
    on.log.take();
    const call waiting = on.asleep(lock + path);
    EXPECT_EQ(without_checks(on.log.take()), queued);
    const std::string sent = on.sent_after(waiting, [&] { on.other.ask("a", "un" + lock + path); });
    EXPECT_EQ(without_checks(sent),
              "get_children2 " + path + "/leases watch\ndelete " + node + "0000000004\n");
  }
}

TEST_F(curator_wire, lost_session_is_not_noticed_by_its_lock) {
  logged_client on;
  EXPECT_EQ(on.c.ask("t", "lock mutex /x"), "");
  on.c.lose_session();
  EXPECT_EQ(on.other.children("/x"), "");
  EXPECT_EQ(on.other.ask("t", "try mutex /x 0"), "true");
  EXPECT_EQ(on.c.ask("t", "mine mutex /x"), "true");
  EXPECT_EQ(on.c.ask("t", "unlock mutex /x"), "");
  EXPECT_EQ(on.other.ask("t", "mine mutex /x"), "true");
}

TEST_F(curator_wire, mutex_and_read_write_lock_on_one_path_do_not_see_each_other) {
  logged_client on;
  EXPECT_EQ(on.c.ask("t", "lock mutex /x"), "");
  EXPECT_EQ(on.other.ask("t", "try write /x 0"), "true");
  EXPECT_EQ(on.other.ask("t", "unlock write /x"), "");
}

TEST_F(curator_wire, children_of_others_block_a_mutex_when_they_sort_before_digits) {
  logged_client on;
  on.other.ask("create /x CONTAINER");
  on.other.ask("create /x/zebra PERSISTENT");
  EXPECT_EQ(on.c.ask("t", "try mutex /x 0"), "true");
  EXPECT_EQ(on.c.ask("t", "unlock mutex /x"), "");
  on.other.ask("create /x/!first PERSISTENT");
  EXPECT_EQ(on.c.ask("t", "try mutex /x 0"), "false");
}

}  // namespace
}  // namespace holdfast::zookeeper_wire
