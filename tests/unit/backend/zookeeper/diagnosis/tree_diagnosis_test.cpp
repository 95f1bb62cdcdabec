// The diagnosis of the nodes under the chroot; the test plays the server.
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/zookeeper/diagnosis/diagnosis.hpp"
#include "tests/unit/backend/settings_fixture.hpp"
#include "tests/unit/backend/zookeeper/transport/wire.hpp"
#include "tests/unit/io/reactor/played_network.hpp"

namespace holdfast::zookeeper_unit {
namespace {

using zookeeper::acl_entry;
using zookeeper::error;
using zookeeper::opcode;

// The locks under /l. A session attaches at once, and each request is answered at once.
class played_tree {
 public:
  using reply_body = std::optional<std::string>;  // empty: there is no such node

  played_tree() {
    net.while_blocked = [this] { serve(); };
  }
  zookeeper::tree_facts diagnose(const std::string& options = "") {
    const auto settings =
        settings_unit::settings_of(zookeeper::read_settings, "zookeeper://h/l?" + options);
    return zookeeper::diagnose_tree(net, settings);
  }

  static std::string acl(const std::vector<acl_entry>& entries) {
    std::string out;
    zookeeper::jute_writer w(out);
    w.write_int(static_cast<std::int32_t>(entries.size()));
    for (const acl_entry& e : entries) w.write_int(e.rights).write_text(e.scheme).write_text(e.id);
    return out + stat_bytes({});
  }
  static std::string names(const std::vector<std::string>& all) {
    std::string out;
    zookeeper::jute_writer w(out);
    w.write_int(static_cast<std::int32_t>(all.size()));
    for (const std::string& name : all) w.write_text(name);
    return out + stat_bytes({});
  }

  io::reactor_tests::played_network net;
  std::vector<std::string> locks;
  std::function<reply_body(std::string_view path)> acl_of = [](auto) { return acl({}); };
  std::function<reply_body(std::string_view path)> stat_of = [](auto) { return stat_bytes({}); };
  std::string lost_at;  // the path at whose first request the connection is lost
  reply_body list;      // in place of the names of the locks
  bool may_create = true;
  int deletes = 0;

 private:
  void serve() {
    for (bool has_served = true; has_served;) {
      has_served = opened_ < net.streams.size();
      for (; opened_ < net.streams.size(); ++opened_) net.streams[opened_]->events->on_open();
      net.callers->flush();
      const auto s = net.streams.back();
      const std::string bytes = std::exchange(s->written, {});
      has_served = has_served || !bytes.empty();
      zookeeper::frame_reader frames;
      frames.feed(bytes_of(bytes), [&](std::span<const std::byte> f) {
        answer(*s, f);
        return !s->is_gone;
      });
    }
  }
  void answer(io::reactor_tests::played_network::stream_state& s, std::span<const std::byte> f) {
    zookeeper::jute_reader r(f);
    const std::int32_t number = r.read_int();
    if (number == 0) return s.events->on_bytes(bytes_of(connected(30'000, 0x77)));
    const auto op = static_cast<opcode>(r.read_int());
    if (op == opcode::multi) return s.events->on_bytes(bytes_of(empty_multi_reply(number, 5)));
    const bool has_path = op != opcode::close_session && op != opcode::set_watches;
    const std::string path(has_path ? r.read_text() : std::string_view());
    if (!lost_at.empty() && path == lost_at) {
      lost_at.clear();
      return s.events->on_closed({errc::unavailable, "reset"});
    }
    const reply_body body = body_of(op, path);
    s.events->on_bytes(
        bytes_of(replied(number, 5, body ? error::ok : error::no_node, body.value_or(""))));
  }
  reply_body body_of(opcode op, const std::string& path) {
    std::string made;
    switch (op) {
      case opcode::get_acl: return acl_of(path);
      case opcode::exists: return stat_of(path);
      case opcode::get_children2: return list ? list : names(locks);
      case opcode::remove: ++deletes; return "";
      case opcode::create2:
        if (!may_create) return {};
        zookeeper::jute_writer(made).write_text(path);
        return made + stat_bytes({});
      default: return "";
    }
  }

  std::size_t opened_ = 0;
};

TEST(zookeeper_tree_diagnosis, reports_the_locks_whose_nodes_anyone_may_delete) {
  played_tree t;
  t.locks = {"open", "readable", "own"};
  t.acl_of = [](std::string_view path) -> played_tree::reply_body {
    const int rights = acl_entry::read | (path == "/l/readable" ? 0 : acl_entry::remove);
    if (path == "/l/own") return played_tree::acl({{rights, "digest", "u:p"}});
    return played_tree::acl({{rights, "world", "anyone"}});
  };
  const zookeeper::tree_facts found = t.diagnose();
  EXPECT_EQ(found.locks, 3u);
  EXPECT_TRUE(found.are_all);
  EXPECT_EQ(found.open, std::vector<std::string>{"open"});
  ASSERT_EQ(found.acl.size(), 1u);
  EXPECT_EQ(found.acl[0].scheme, "world");
  EXPECT_FALSE(found.trips.empty());
}

TEST(zookeeper_tree_diagnosis, deletes_only_a_node_that_it_could_create) {
  for (const bool may_create : {true, false}) {
    played_tree t;
    t.may_create = may_create;
    EXPECT_EQ(t.diagnose().create_code == error::ok, may_create);
    EXPECT_EQ(t.deletes, may_create ? 1 : 0);
  }
}

TEST(zookeeper_tree_diagnosis, reads_the_first_thousand_locks_of_a_larger_tree) {
  played_tree t;
  for (int i = 0; i < 1'001; ++i) t.locks.push_back("job" + std::to_string(i));
  const zookeeper::tree_facts found = t.diagnose();
  EXPECT_EQ(found.locks, 1'000u);
  EXPECT_FALSE(found.are_all);
}

// A lock of another layout may have a node of such a name.
TEST(zookeeper_tree_diagnosis, reads_the_sequences_of_a_semaphores_folders_where_there_are_any) {
  const std::pair<const char*, std::int64_t> cases[] = {{"layout=kazoo", 3},
                                                        {"layout=curator-semaphore", 70}};
  for (const auto& [layout, sequence] : cases) {
    played_tree t;
    t.locks = {"job"};
    t.stat_of = [](std::string_view path) -> played_tree::reply_body {
      if (path == "/l/job") return stat_bytes({.cversion = 4, .children = 2});
      if (path == "/l/job/leases") return stat_bytes({.cversion = 139, .children = 1});
      if (path == "/l/job/locks") return "x";  // not a stat
      return stat_bytes({});
    };
    const zookeeper::tree_facts found = t.diagnose(layout);
    EXPECT_EQ(found.sequence, sequence) << layout;
    EXPECT_EQ(found.most_used, "job") << layout;
  }
}

TEST(zookeeper_tree_diagnosis, takes_no_malformed_list_for_that_of_all_locks) {
  played_tree t;
  t.list = "x";
  const zookeeper::tree_facts found = t.diagnose();
  EXPECT_EQ(found.locks, 0u);
  EXPECT_FALSE(found.are_all);
}

TEST(zookeeper_tree_diagnosis, that_loses_its_connection_reads_no_further_locks) {
  played_tree t;
  t.locks = {"first", "second"};
  t.lost_at = "/l/first";
  const zookeeper::tree_facts found = t.diagnose();
  EXPECT_EQ(found.locks, 0u);
  EXPECT_FALSE(found.are_all);
  EXPECT_EQ(found.unread.code, errc::unavailable);
}

}  // namespace
}  // namespace holdfast::zookeeper_unit
