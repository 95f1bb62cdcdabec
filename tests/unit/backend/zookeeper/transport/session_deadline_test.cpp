// Each sentence of the rule, and what it prevents.
#include "backend/zookeeper/transport/session_deadline.hpp"

#include <gtest/gtest.h>

#include "backend/zookeeper/transport/chroot.hpp"
#include "backend/zookeeper/transport/replies.hpp"
#include "backend/zookeeper/transport/watch_registry.hpp"

namespace holdfast::zookeeper_unit {
namespace {

using namespace zookeeper;
using namespace std::chrono_literals;
using base::time_point;

constexpr duration ten = 10s;
constexpr duration worth_of_ten = 9'900ms - 2ms;
const time_point begin{1'000s};

session_deadline made() {
  session_deadline d;
  d.create(begin, ten);
  return d;
}

TEST(zookeeper_deadline, of_a_new_session_counts_from_the_connect_request) {
  const session_deadline d = made();
  EXPECT_EQ(d.deadline(), begin + worth_of_ten);
}

TEST(zookeeper_deadline, attaching_counts_once_a_write_over_that_connection_succeeded) {
  session_deadline d = made();
  EXPECT_TRUE(d.attach(begin + 3s, ten));
  EXPECT_EQ(d.deadline(), begin + worth_of_ten) << "by the attachment alone";
  const auto write = d.mark(begin + 5s);
  EXPECT_TRUE(d.acknowledge(write, begin + 6s));
  EXPECT_EQ(d.deadline(), begin + 3s + worth_of_ten) << "from the ConnectRequest, not the write";
  EXPECT_FALSE(d.acknowledge(d.mark(begin + 7s), begin + 7s)) << "it proves no more";
}

TEST(zookeeper_deadline, a_write_of_an_earlier_connection_proves_nothing) {
  session_deadline d = made();
  const auto old = d.mark(begin + 1s);
  EXPECT_TRUE(d.attach(begin + 3s, ten));
  EXPECT_FALSE(d.acknowledge(old, begin + 4s));
  d.detach();
  EXPECT_FALSE(d.acknowledge(d.mark(begin + 4s), begin + 4s)) << "without a connection";
}

TEST(zookeeper_deadline, an_acknowledgement_read_too_late_is_none) {
  session_deadline d = made();
  EXPECT_TRUE(d.attach(begin + 3s, ten));
  const auto write = d.mark(begin + 4s);
  EXPECT_FALSE(d.acknowledge(write, begin + worth_of_ten));
  EXPECT_EQ(d.deadline(), begin + worth_of_ten);
  EXPECT_TRUE(d.has_lapsed(begin)) << "and never again, whatever the clock says";
}

TEST(zookeeper_deadline, a_write_at_a_follower_is_no_touch) {
  session_deadline d = made();
  EXPECT_FALSE(d.acknowledge(d.mark(begin + 2s), begin + 2s));
  EXPECT_EQ(d.deadline(), begin + worth_of_ten);
}

TEST(zookeeper_deadline, at_the_leader_each_write_sent_after_it_said_so_is_one) {
  session_deadline d = made();
  const auto before = d.mark(begin + 1s);
  d.note_leader();
  EXPECT_FALSE(d.acknowledge(before, begin + 1s)) << "sent before the server said so";
  EXPECT_TRUE(d.acknowledge(d.mark(begin + 2s), begin + 3s));
  EXPECT_EQ(d.deadline(), begin + 2s + worth_of_ten);
}

TEST(zookeeper_deadline, a_new_connection_may_be_to_a_follower) {
  session_deadline d = made();
  d.note_leader();
  d.detach();
  d.note_leader();
  EXPECT_FALSE(d.is_at_leader()) << "asked without a connection";
  EXPECT_TRUE(d.attach(begin + 1s, ten));
  EXPECT_TRUE(d.acknowledge(d.mark(begin + 2s), begin + 2s));
  EXPECT_EQ(d.deadline(), begin + 1s + worth_of_ten);
}

TEST(zookeeper_deadline, another_time_out_cuts_it_and_ends_the_belief) {
  for (const duration other : {duration(2s), duration(20s)}) {
    session_deadline d = made();
    EXPECT_FALSE(d.attach(begin + 1s, other));
    EXPECT_EQ(d.deadline(), other < ten ? begin + 1s + 1'980ms - 2ms : begin + worth_of_ten);
    EXPECT_EQ(d.timeout(), std::min(ten, other)) << "the smallest ever negotiated";
    const auto cut = d.deadline();
    EXPECT_FALSE(d.acknowledge(d.mark(begin + 2s), begin + 2s));
    EXPECT_FALSE(d.attach(begin + 2s, ten)) << "for good";
    EXPECT_EQ(d.deadline(), cut);
    EXPECT_EQ(d.created_timeout(), ten) << "which is asked for again";
  }
}

TEST(zookeeper_mode, is_read_from_a_whole_line) {
  const std::string head = "Zookeeper version: 3.8.0\nOutstanding: 0\nZxid: 0x5\n";
  EXPECT_EQ(read_mode(head + "Mode: standalone\nNode count: 5\n"), server_mode::standalone);
  EXPECT_EQ(read_mode(head + "Mode: leader\n"), server_mode::leader);
  EXPECT_EQ(read_mode(head + "Mode: follower\n"), server_mode::follower);
  EXPECT_EQ(read_mode(head + "Mode: observer\n"), server_mode::observer);
  EXPECT_EQ(read_mode(head + "Mode: read-only\n"), server_mode::read_only);
  EXPECT_EQ(read_mode(head + "Mode: leader"), server_mode::unknown) << "perhaps more follows";
  EXPECT_EQ(read_mode(head), server_mode::unknown) << "an election";
  EXPECT_EQ(read_mode(""), server_mode::unknown) << "the limit of connections";
  EXPECT_EQ(read_mode("srvr is not executed because it is not in the whitelist.\n"),
            server_mode::unknown);
}

TEST(zookeeper_chroot, has_the_faults_that_a_server_finds) {
  for (const auto path : {"/", "/a", "/a/b-c.d/..e", "/a b~"})
    EXPECT_EQ(path_fault(path), "") << path;
  for (const auto path : {"", "a", "ab", "ab/c", "/a/", "//a", "/a//b", "/.", "/a/..", "/a/./b",
                          "/a\n", "/a\x1f", "/a\x7f"})
    EXPECT_NE(path_fault(path), "") << path;
}

TEST(zookeeper_chroot, is_created_from_the_top) {
  EXPECT_EQ(creation_of("/a"), "create /a");
  EXPECT_EQ(creation_of("/a/bc/d"), "create /a, create /a/bc, create /a/bc/d");
}

TEST(zookeeper_watches, are_kept_as_what_has_to_be_set_again) {
  watch_registry w;
  w.on_answered(opcode::exists, error::ok, "/there");
  w.on_answered(opcode::exists, error::no_node, "/missing");
  w.on_answered(opcode::get_data, error::ok, "/data");
  w.on_answered(opcode::get_data, error::no_node, "/nothing");
  w.on_answered(opcode::get_children2, error::ok, "/parent");
  w.on_answered(opcode::get_children2, error::no_node, "/nothing");
  using paths = std::vector<std::string_view>;
  EXPECT_EQ(w.all().data, (paths{"/data", "/there"}));
  EXPECT_EQ(w.all().exist, (paths{"/missing"}));
  EXPECT_EQ(w.all().child, (paths{"/parent"}));
  w.on_event({event_kind::created, "/missing"});
  w.on_event({event_kind::data, "/data"});
  w.on_event({event_kind::children, "/there"});
  EXPECT_EQ(w.all().data, (paths{"/there"}));
  w.on_event({event_kind::deleted, "/there"});
  w.on_event({event_kind::deleted, "/parent"});
  EXPECT_TRUE(w.all().data.empty() && w.all().exist.empty() && w.all().child.empty());
}

}  // namespace
}  // namespace holdfast::zookeeper_unit
