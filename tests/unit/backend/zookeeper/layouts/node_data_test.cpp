#include "backend/zookeeper/layouts/node_data.hpp"

#include <gtest/gtest.h>

#include "backend/zookeeper/layouts/error_text.hpp"

namespace holdfast::zookeeper::layout_tests {
namespace {

std::string read_back(std::string_view data) {
  const node_owner o = read_node_owner(data);
  return o.host + '|' + std::to_string(o.pid) + '|' + o.note;
}

TEST(zookeeper_node_data, is_read_as_it_was_written) {
  for (const node_owner& o : {node_owner{"host.example", 42, "nightly run"}, node_owner{"h", 1, ""},
                              node_owner{"", 7, "of nowhere"}, node_owner{"h", 3, " spaces  "}}) {
    const node_owner read = read_node_owner(text_of(o));
    EXPECT_EQ(read.host, o.host);
    EXPECT_EQ(read.pid, o.pid);
    EXPECT_EQ(read.note, o.note);
  }
  EXPECT_EQ(text_of({"h", 42, "n"}), "h 42 n");
  EXPECT_EQ(text_of({"", 42, ""}), "- 42");
}

TEST(zookeeper_node_data, that_another_client_wrote_is_shown_as_far_as_it_is_understood) {
  EXPECT_EQ(read_back("192.168.1.7"), "192.168.1.7|0|");  // Curator
  EXPECT_EQ(read_back(""), "|0|");
  EXPECT_EQ(read_back(revocation_data), "|0|");
  EXPECT_EQ(read_back("held by the reaper"), "|0|held by the reaper");
  EXPECT_EQ(read_back("h 12x"), "|0|h 12x");
  EXPECT_EQ(read_back("h 99999999999999999999 n"), "|0|h 99999999999999999999 n");
}

TEST(zookeeper_error_text, each_error_of_a_server_has_its_kind_and_the_remedy) {
  EXPECT_EQ(errc_of(error::no_auth), errc::refused);
  EXPECT_EQ(errc_of(error::quota_exceeded), errc::refused);
  EXPECT_EQ(errc_of(error::no_node), errc::refused);
  EXPECT_EQ(errc_of(error::no_children_for_ephemerals), errc::mismatch);
  EXPECT_EQ(errc_of(error::node_exists), errc::exhausted);
  EXPECT_EQ(errc_of(error::unimplemented), errc::unsupported);
  EXPECT_EQ(errc_of(error::throttled), errc::unavailable);
  EXPECT_EQ(errc_of(error::auth_failed), errc::refused);
  EXPECT_EQ(errc_of(error::invalid_acl), errc::refused);
  EXPECT_EQ(explain(error::no_node, "/l/job"),
            "the path above /l/job does not exist; create it, or leave it out of the URL");
  EXPECT_EQ(explain(error::no_children_for_ephemerals, "/l/job"),
            "/l/job is an ephemeral node, which cannot have children; use another lock name");
  EXPECT_EQ(explain(error::quota_exceeded, "/l/job"),
            "the quota of the path above /l/job is used up");
  EXPECT_EQ(explain(error::unimplemented, "/l/job"),
            "the server is older than 3.5; use a newer one");
  EXPECT_EQ(explain(error::no_auth, "/l/job"),
            "the ACL of /l/job refuses this user; it needs r and c there, and d to release");
  EXPECT_EQ(
      explain(error::node_exists, "/l/job"),
      "the sequence of /l/job has come close to its limit of 2147483647, beyond which the "
      "server does not keep the order of the nodes; delete that node while no client holds or "
      "wants the lock, or use another name");
  EXPECT_EQ(explain(error{-999}, "/l/job"), "the server answers with error -999 about /l/job");
}

// The ACL of the node above decides who creates a node, and its kind whether that can be.
TEST(zookeeper_error_text, a_refused_creation_names_the_node_above) {
  const auto begins = [](error e, const char* path, std::string_view text) {
    return explain_creation(e, path).starts_with(text);
  };
  EXPECT_TRUE(begins(error::no_auth, "/l/job", "the ACL of /l refuses"));
  EXPECT_TRUE(begins(error::no_auth, "/job", "the ACL of / refuses"));
  EXPECT_TRUE(begins(error::no_children_for_ephemerals, "/l/job", "/l is an ephemeral node"));
  EXPECT_TRUE(begins(error::no_node, "/l/job", "the path above /l/job does not exist"));
}

}  // namespace
}  // namespace holdfast::zookeeper::layout_tests
