// Requests and replies, byte by byte.
#include <gtest/gtest.h>

#include "backend/zookeeper/transport/requests.hpp"
#include "tests/unit/backend/zookeeper/transport/wire.hpp"

namespace holdfast::zookeeper_unit {
namespace {

using namespace zookeeper;

constexpr const char* no_password = "00000000000000000000000000000000";

TEST(zookeeper_requests, connect_asks_for_a_session_that_is_not_read_only) {
  std::string fresh, again;
  append_connect(fresh, {.timeout_ms = 10'000});
  append_connect(again, {5, 2'000, 0x1234, "0123456789abcdef"});
  EXPECT_EQ(hex_of(fresh), "0000002d"
                           "00000000"
                           "0000000000000000"
                           "00002710"
                           "0000000000000000"
                           "00000010" +
                               std::string(no_password) + "00");
  EXPECT_EQ(hex_of(again), "0000002d"
                           "00000000"
                           "0000000000000005"
                           "000007d0"
                           "0000000000001234"
                           "00000010"
                           "30313233343536373839616263646566"
                           "00");
}

TEST(zookeeper_requests, of_a_session_itself) {
  std::string ping, auth, close;
  append_ping(ping);
  append_auth(auth, "digest", "u:p");
  append_close_session(close, 9);
  EXPECT_EQ(hex_of(ping), "00000008"
                          "fffffffe"
                          "0000000b");
  EXPECT_EQ(hex_of(auth), "0000001d"
                          "fffffffc"
                          "00000064"
                          "00000000"
                          "00000006"
                          "646967657374"
                          "00000003"
                          "753a70");
  EXPECT_EQ(hex_of(close), "00000008"
                           "00000009"
                           "fffffff5");
}

TEST(zookeeper_requests, create_names_who_may_do_what) {
  std::string open, own;
  append_create(open, "/a", "d", node_kind::ephemeral_sequential, acl_of::anyone);
  append_create(own, "/a", "", node_kind::container, acl_of::creator);
  EXPECT_EQ(hex_of(open), "000000022f61"
                          "0000000164"
                          "00000001"
                          "0000001f"
                          "00000005776f726c64"
                          "00000006616e796f6e65"
                          "00000003");
  EXPECT_EQ(hex_of(own), "000000022f61"
                         "00000000"
                         "00000001"
                         "0000001f"
                         "0000000461757468"
                         "00000000"
                         "00000004");
}

TEST(zookeeper_requests, of_nodes) {
  std::string out;
  append_delete(out, "/a", any_version);
  EXPECT_EQ(hex_of(out), "000000022f61"
                         "ffffffff");
  out.clear();
  append_watched_path(out, "/a", true);
  EXPECT_EQ(hex_of(out), "000000022f61"
                         "01");
  out.clear();
  append_set_data(out, "/a", "x", 3);
  EXPECT_EQ(hex_of(out), "000000022f61"
                         "0000000178"
                         "00000003");
  out.clear();
  append_path(out, "/a");
  EXPECT_EQ(hex_of(out), "000000022f61");
}

TEST(zookeeper_requests, a_multi_has_a_head_for_each_operation_and_an_end) {
  std::string out;
  multi_writer(out).check("/c", 1).set_data("/d", "x", 2).remove("/e", -1).end();
  EXPECT_EQ(hex_of(out), "0000000d"
                         "00"
                         "ffffffff"
                         "000000022f63"
                         "00000001"
                         "00000005"
                         "00"
                         "ffffffff"
                         "000000022f64"
                         "0000000178"
                         "00000002"
                         "00000002"
                         "00"
                         "ffffffff"
                         "000000022f65"
                         "ffffffff"
                         "ffffffff"
                         "01"
                         "ffffffff");
}

TEST(zookeeper_requests, watches_are_set_again_in_frames_that_a_server_takes) {
  std::string out, of_one_kind;
  EXPECT_EQ(append_set_watches(out, 5, {}), 0u);
  EXPECT_EQ(append_set_watches(of_one_kind, 5, {{"/a"}, {}, {}}), 1u);
  EXPECT_EQ(append_set_watches(of_one_kind, 5, {{}, {"/a"}, {}}), 1u);
  EXPECT_EQ(append_set_watches(of_one_kind, 5, {{}, {}, {"/a"}}), 1u);
  EXPECT_EQ(append_set_watches(out, 5, {{"/a"}, {}, {"/b"}}), 1u);
  EXPECT_EQ(hex_of(out), "00000028"
                         "fffffff8"
                         "00000065"
                         "0000000000000005"
                         "00000001"
                         "000000022f61"
                         "00000000"
                         "00000001"
                         "000000022f62");
  const std::string path(1'000, 'p');
  const std::vector<std::string_view> many(300, path);
  std::string all;
  EXPECT_EQ(append_set_watches(all, 1, {many, many, {}}), 5u);
  frame_reader frames(200'000);
  std::size_t paths = 0;
  EXPECT_TRUE(frames.feed(bytes_of(all), [&](std::span<const std::byte> frame) {
    jute_reader r(frame);
    r.skip(16);
    for (int kind = 0; kind < 3; ++kind)
      for (std::size_t n = r.read_count(4); n > 0; --n) paths += r.read_text() == path ? 1 : 0;
    EXPECT_TRUE(r.is_good() && r.is_at_end());
    return true;
  }));
  EXPECT_EQ(paths, 600u);
}

std::span<const std::byte> inside(const std::string& frame) {
  return bytes_of(frame).subspan(frame_head);
}

TEST(zookeeper_replies, to_connect) {
  const std::string fine = connected(4'000, 7), gone = expired(),
                    limited = connected(4'000, 7, "0123456789abcdef", true);
  const auto r = read_connect_response(inside(fine));
  ASSERT_TRUE(r);
  EXPECT_EQ(r->timeout_ms, 4'000);
  EXPECT_EQ(r->session_id, 7);
  EXPECT_EQ(r->password, "0123456789abcdef");
  EXPECT_FALSE(r->is_expired() || r->is_read_only);
  ASSERT_TRUE(read_connect_response(inside(gone)));
  EXPECT_TRUE(read_connect_response(inside(gone))->is_expired());
  EXPECT_TRUE(read_connect_response(inside(connected(4'000, 0)))->is_expired());
  EXPECT_TRUE(read_connect_response(inside(connected(0, 7)))->is_expired());
  EXPECT_TRUE(read_connect_response(inside(limited))->is_read_only);
  const std::string old = fine.substr(0, fine.size() - 1);
  EXPECT_TRUE(read_connect_response(inside(old))) << "servers before 3.4 do not say read-only";
}

TEST(zookeeper_replies, to_connect_that_is_none) {
  // A server in read-only mode: a header in its place, with an epoch where the timeout would be.
  EXPECT_FALSE(read_connect_response(inside(replied(0, 0x500000001, error::not_read_write))));
  EXPECT_FALSE(read_connect_response(inside(connected(4'000, 7, "short"))));
  const std::string of_another_protocol = frame_of([](jute_writer& w) {
    w.write_int(1).write_int(4'000).write_long(7).write_text("0123456789abcdef").write_bool(false);
  });
  EXPECT_FALSE(read_connect_response(inside(of_another_protocol)));
  const std::string fine = connected(4'000, 7);
  for (std::size_t n = 0; n < fine.size() - 5; ++n)
    EXPECT_FALSE(read_connect_response(bytes_of(fine).subspan(4, n))) << n;
}

TEST(zookeeper_replies, with_a_stat) {
  const node_stat s{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  const std::string stat = stat_bytes(s);
  EXPECT_EQ(stat.size(), 68u);
  ASSERT_TRUE(read_stat(bytes_of(stat)));
  EXPECT_EQ(stat_bytes(*read_stat(bytes_of(stat))), stat);
  std::string created, data;
  jute_writer(created).write_text("/a0000000001");
  jute_writer(data).write_text("xy");
  created += stat;
  data += stat;
  ASSERT_TRUE(read_created(bytes_of(created)));
  EXPECT_EQ(read_created(bytes_of(created))->path, "/a0000000001");
  EXPECT_EQ(read_created(bytes_of(created))->stat.pzxid, 11);
  ASSERT_TRUE(read_data(bytes_of(data)));
  EXPECT_EQ(read_data(bytes_of(data))->data, "xy");
  EXPECT_FALSE(read_stat(bytes_of(stat).first(67)));
  EXPECT_FALSE(read_created(bytes_of(stat)));
}

TEST(zookeeper_replies, with_children) {
  std::string list;
  jute_writer(list).write_int(2).write_text("b").write_text("a");
  const std::string cut = list;
  list += stat_bytes({.children = 2});
  const auto r = read_children(bytes_of(list));
  ASSERT_TRUE(r);
  EXPECT_EQ(r->names, (std::vector<std::string_view>{"b", "a"}));
  EXPECT_EQ(r->stat.children, 2);
  EXPECT_FALSE(read_children(bytes_of(cut)));
}

TEST(zookeeper_replies, an_event_names_its_path) {
  const std::string frame = event(event_kind::deleted, "/a");
  const auto r = read_reply(inside(frame));
  ASSERT_TRUE(r);
  EXPECT_EQ(r->head.xid, xid::event);
  const auto e = read_watch_event(r->body);
  ASSERT_TRUE(e);
  EXPECT_EQ(e->kind, event_kind::deleted);
  EXPECT_EQ(e->path, "/a");
}

void add_result(std::string& out, std::int32_t type, std::int32_t code) {
  jute_writer(out).write_int(type).write_bool(false).write_int(code);
}
void add_end(std::string& out) { jute_writer(out).write_int(-1).write_bool(true).write_int(-1); }

TEST(zookeeper_replies, a_multi_that_succeeded) {
  std::string body;
  add_result(body, 1, 0);
  jute_writer(body).write_text("/a");
  add_result(body, 2, 0);
  add_result(body, 13, 0);
  add_result(body, 5, 0);
  body += stat_bytes({});
  add_result(body, 15, 0);
  jute_writer(body).write_text("/c");
  body += stat_bytes({});
  EXPECT_FALSE(read_multi(bytes_of(body))) << "without its end";
  add_end(body);
  const auto r = read_multi(bytes_of(body));
  ASSERT_TRUE(r);
  EXPECT_EQ(r->code, error::ok);
  EXPECT_EQ(r->created, (std::vector<std::string_view>{"/a", "/c"}));
}

TEST(zookeeper_replies, a_multi_has_the_stat_of_the_node_that_it_set) {
  std::string body;
  add_result(body, 5, 0);
  body += stat_bytes({.version = 7});
  add_end(body);
  ASSERT_TRUE(read_multi(bytes_of(body)));
  EXPECT_EQ(read_multi(bytes_of(body))->set.version, 7);
}

TEST(zookeeper_replies, a_multi_with_an_operation_that_was_not_sent_is_malformed) {
  std::string body;
  add_result(body, 4, 0);  // get_data
  add_end(body);
  EXPECT_FALSE(read_multi(bytes_of(body)));
}

TEST(zookeeper_requests, a_multi_creates_a_container_with_an_operation_of_its_own) {
  std::string container, node;
  multi_writer(container).create("/a", "", node_kind::container, acl_of::anyone).end();
  multi_writer(node).create("/a", "", node_kind::ephemeral, acl_of::anyone).end();
  EXPECT_TRUE(hex_of(container).starts_with("0000001300ffffffff000000022f61")) << hex_of(container);
  EXPECT_TRUE(hex_of(node).starts_with("0000000100ffffffff000000022f61")) << hex_of(node);
}

// Trap: the header of the reply says that all is well.
TEST(zookeeper_replies, a_multi_that_failed_names_the_operation_that_could_not_be_done) {
  std::string body;
  for (const error code : {error::ok, error::bad_version, error::runtime_inconsistency}) {
    add_result(body, -1, static_cast<std::int32_t>(code));
    jute_writer(body).write_int(static_cast<std::int32_t>(code));
  }
  add_end(body);
  const std::string frame = replied(4, 9, error::ok, body);
  const auto head = read_reply(inside(frame));
  ASSERT_TRUE(head);
  EXPECT_TRUE(head->is_ok());
  const auto r = read_multi(head->body);
  ASSERT_TRUE(r);
  EXPECT_EQ(r->code, error::bad_version);
  EXPECT_EQ(r->failed_at, 1u);
}

TEST(zookeeper_replies, an_empty_multi_succeeds) {
  std::string body;
  add_end(body);
  ASSERT_TRUE(read_multi(bytes_of(body)));
  EXPECT_EQ(read_multi(bytes_of(body))->code, error::ok);
}

}  // namespace
}  // namespace holdfast::zookeeper_unit
