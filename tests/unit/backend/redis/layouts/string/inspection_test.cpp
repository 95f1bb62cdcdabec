// list(), holders() and break_lock() against the model of Redis: what they find, and what they
// make of keys that are not as they should be.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "backend/redis/layouts/string/names.hpp"
#include "tests/unit/backend/redis/on_model.hpp"

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view owner = "hf1:0000000000000001:00000000000000000000000000000001";
constexpr std::string_view first_reader = "hfs:0000000000000001:00000000000000000000000000000001";
constexpr std::string_view second_reader = "hfs:0000000000000002:00000000000000000000000000000002";
constexpr std::string_view permits = "hfp:0000000000000001:00000000000000030000000000000001";

struct redis_inspection : testing::Test {
  on_model world;
  client c = world.open();

  std::string key(std::string_view lock, char what) {
    const side_key k{tag_of(lock), lock, what};
    std::string out(k.size(), '?');
    k.write_to(out.data());
    return out;
  }
  // A lock that is held, and of which the server keeps what it has of a holder that was renewed.
  void hold(std::string_view lock, std::string_view note = "host|7|1699999990000|a|note") {
    world.command({"SET", lock, owner, "PX", "10000"});
    world.command({"HSET", key(lock, 'm'), owner, note});
  }
  std::string at(std::chrono::microseconds from_now) {
    return std::to_string((world.wall() + from_now).count());
  }
  std::vector<std::string> names(std::string_view prefix = {}) {
    std::vector<std::string> out;
    for (const holder& h : c.list(prefix)) out.push_back(h.name);
    std::sort(out.begin(), out.end());
    return out;
  }
};

using list = std::vector<std::string>;

TEST_F(redis_inspection, shows_a_holder_with_all_that_is_stored_about_it) {
  hold("job");
  world.command({"ZADD", key("job", 'q'), "1", "a", "2", "b"});
  const auto found = c.holders("job");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].name, "job");
  EXPECT_EQ(found[0].owner, owner);
  EXPECT_EQ(found[0].host, "host");
  EXPECT_EQ(found[0].pid, 7);
  EXPECT_EQ(found[0].note, "a|note") << "a note may have the separator in it";
  EXPECT_EQ(found[0].held_for, 10s);
  EXPECT_EQ(found[0].expires_in, 10s);
  EXPECT_EQ(found[0].waiting, 2);
  EXPECT_EQ(found[0].mode, lock_mode::exclusive);
}

TEST_F(redis_inspection, shows_the_note_of_each_holder) {
  hold("a", "host|7|1699999990000|the first");
  hold("b", "host|7|1699999990000|the second");
  const auto found = c.list("");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].note, "the first");
  EXPECT_EQ(found[1].note, "the second");
}

TEST_F(redis_inspection, shows_the_note_of_a_reader_from_its_grant_on) {
  const lease held = c.shared_mutex("job").acquire_shared({.note = "reads"});
  const auto found = c.holders("job");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].note, "reads");
}

TEST_F(redis_inspection, lists_a_lock_by_its_whole_name_though_nothing_else_is_stored_of_it) {
  world.command({"SET", "job", owner});
  EXPECT_EQ(names("job"), list{"job"});
  EXPECT_EQ(names(), list{});
}

TEST_F(redis_inspection, shows_a_foreign_holder_and_one_without_a_ttl) {
  world.command({"SET", "job", "somebody"});
  const auto found = c.holders("job");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].owner, "somebody");
  EXPECT_EQ(found[0].expires_in, std::chrono::milliseconds::max());
  EXPECT_EQ(found[0].note + found[0].host, "");
}

TEST_F(redis_inspection, makes_nothing_of_what_is_stored_in_another_form) {
  for (const std::string_view about : {"", "host", "host|7", "host|7|1", "|||", "host|x|y|note",
                                       "host|7|99999999999999999999|note", "host|7|-5|note"}) {
    hold("job", about);
    const auto found = c.holders("job");
    ASSERT_EQ(found.size(), 1u) << about;
    EXPECT_EQ(found[0].owner, owner) << about;
    EXPECT_GE(found[0].held_for, 0ms) << about;
  }
}

TEST_F(redis_inspection, finds_locks_by_prefix_with_braces_and_any_bytes) {
  const list all = {"%", "a b", "a*", "shop", "shop/1", "x{y}z", "\xc3\xbc"};
  for (const std::string& lock : all) hold(lock);
  EXPECT_EQ(names(), all);
  EXPECT_EQ(names("shop"), (list{"shop", "shop/1"}));
  EXPECT_EQ(names("a*"), list{"a*"}) << "a prefix is no pattern";
  EXPECT_EQ(names("x{"), list{"x{y}z"});
  EXPECT_EQ(names("y"), list{});
}

TEST_F(redis_inspection, finds_more_locks_than_the_server_lists_at_a_time) {
  for (int i = 0; i < 2500; ++i) hold("lock" + std::to_string(i));
  EXPECT_EQ(names("lock").size(), 2500u);
}

TEST_F(redis_inspection, shows_the_note_and_the_token_of_a_holder_with_a_note_at_once) {
  const client holding = world.open("ttl=30s");
  const lease held = holding.mutex("job").acquire({.note = "nightly"});
  const lease silent = holding.mutex("other").acquire();
  world.pass(100ms);
  const auto found = c.holders("job");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].note, "nightly");
  EXPECT_EQ(found[0].token, held.token());
  EXPECT_EQ(c.holders("other")[0].token, 0) << "no request is sent for a holder without a note";
}

// The parts of what is stored are separated by that character.
TEST_F(redis_inspection, shows_a_host_whose_name_has_the_separator_in_it) {
  struct on_another_host final : on_model {
    base::process_identity process() override { return {"a|b", 7}; }
  };
  on_another_host w;
  const client holding = w.open("ttl=30s");
  const lease held = holding.mutex("job").acquire({.note = "nightly"});
  w.pass(100ms);
  const auto found = holding.holders("job");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].host, "a?b");
  EXPECT_EQ(found[0].pid, 7);
  EXPECT_EQ(found[0].note, "nightly");
}

TEST_F(redis_inspection, reports_a_key_of_another_type_where_one_name_is_queried) {
  world.command({"HSET", "hash", "a", "b"});
  std::error_code ec;
  EXPECT_TRUE(c.holders("hash", ec).empty());
  EXPECT_EQ(ec, errc::mismatch);
}

TEST_F(redis_inspection, shows_nobody_of_a_lock_that_is_free_or_is_no_lock) {
  world.command({"HSET", "hash", "a", "b"});
  world.command({"HSET", key("hash", 'm'), owner, "host|7|1|note"});
  world.command({"ZADD", key("waited_for", 'q'), "1", "a"});
  EXPECT_EQ(names(), list{});
  EXPECT_TRUE(c.holders("none").empty());
}

TEST_F(redis_inspection, leaves_out_side_keys_of_another_kind) {
  hold("job");
  world.command({"SET", key("other", 'q'), "a string"});
  world.command({"SET", "holdfast:{odd}:even:q", "no lock's"});
  EXPECT_EQ(names(), list{"job"});
  world.command({"DEL", key("job", 'm')});
  world.command({"SET", key("job", 'm'), "a string"});
  ASSERT_EQ(c.holders("job").size(), 1u);
  EXPECT_EQ(c.holders("job")[0].note, "");
}

TEST_F(redis_inspection, shows_each_reader_whose_lease_has_not_ended) {
  world.command({"SET", "job", "hfg:17", "PX", "10000"});
  const std::string soon = at(5s), past = at(-1us), later = at(10s);
  world.command({"ZADD", key("job", 'r'), soon, first_reader, past, second_reader});
  world.command({"ZADD", key("job", 'r'), later, "hfs:third"});
  const auto found = c.holders("job");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].owner, first_reader);
  EXPECT_EQ(found[0].expires_in, 5s);
  EXPECT_EQ(found[0].mode, lock_mode::shared);
  EXPECT_EQ(found[0].permits, 0u);
  EXPECT_EQ(found[1].owner, "hfs:third");
}

TEST_F(redis_inspection, shows_the_permits_of_each_holder_of_a_semaphore) {
  world.command({"SET", "job", "hfp:5", "PX", "10000"});
  const std::string ends = at(5s);
  world.command({"ZADD", key("job", 'r'), ends, permits, ends, "hfp:other"});
  const auto found = c.holders("job");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].mode, lock_mode::permit);
  EXPECT_EQ(found[0].total_permits, 5u);
  EXPECT_EQ(found[0].permits + found[1].permits, 4u);
}

TEST_F(redis_inspection, a_prefix_of_the_url_is_not_part_of_a_name) {
  client of_shop = world.open("prefix=shop:");
  hold("shop:job");
  hold("job");
  const auto found = of_shop.list();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].name, "job");
  EXPECT_TRUE(of_shop.break_lock("job", std::string(owner)));
  EXPECT_EQ(world.command({"GET", "shop:job"}), "$-1\r\n");
  EXPECT_NE(world.command({"GET", "job"}), "$-1\r\n");
}

TEST_F(redis_inspection, breaks_a_lock_of_the_owner_that_was_seen_and_of_no_other) {
  hold("job");
  EXPECT_FALSE(c.break_lock("job", "somebody"));
  EXPECT_FALSE(c.break_lock("none", std::string(owner)));
  EXPECT_EQ(c.holders("job").size(), 1u);
  EXPECT_TRUE(c.break_lock("job", std::string(owner)));
  EXPECT_TRUE(c.holders("job").empty());
  EXPECT_FALSE(c.break_lock("job", std::string(owner)));
}

TEST_F(redis_inspection, a_server_that_refuses_is_reported_with_its_reason) {
  world.model.forbid("scan");
  try {
    (void)c.list();
    ADD_FAILURE() << "nothing was refused";
  } catch (const lock_error& e) {
    EXPECT_EQ(e.code(), errc::refused);
    EXPECT_NE(std::string(e.what()).find("NOPERM"), std::string::npos) << e.what();
  }
  EXPECT_TRUE(c.holders("job").empty()) << "one lock is looked at without SCAN";
}

// Answers of the right form with wrong parts: nothing is made of them, and every call ends.
TEST_F(redis_inspection, an_odd_answer_harms_nothing) {
  hold("job");
  const std::string right = ":10000\r\n";  // PTTL
  for (const std::string_view odd : {":-9223372036854775808\r\n", ":9223372036854775807\r\n",
                                     "$-1\r\n", "+OK\r\n", "*0\r\n", "*1\r\n*0\r\n"}) {
    world.changed = [&](std::string bytes) {
      if (const auto found = bytes.find(right); found != bytes.npos)
        bytes.replace(found, right.size(), odd);
      return bytes;
    };
    const auto found = c.holders("job");
    world.changed = nullptr;
    ASSERT_EQ(found.size(), 1u) << odd;
    EXPECT_EQ(found[0].owner, owner) << odd;
  }
}

TEST_F(redis_inspection, what_is_no_reply_ends_the_connection_and_is_reported) {
  hold("job");
  world.changed = [](const std::string&) { return std::string("no reply\r\n"); };
  try {
    (void)c.holders("job");
    ADD_FAILURE() << "there was no answer";
  } catch (const lock_error& e) {
    EXPECT_EQ(e.code(), errc::unavailable) << e.what();
  }
  world.changed = nullptr;
  EXPECT_EQ(world.open().holders("job").size(), 1u);
}

TEST_F(redis_inspection, a_server_that_restarts_meanwhile_is_reported) {
  hold("job");
  world.model.restart(sim::kept::everything);
  EXPECT_THROW((void)c.holders("job"), lock_error);
  EXPECT_EQ(world.open().holders("job").size(), 1u);
}

TEST_F(redis_inspection, the_token_is_that_of_the_first_turn_and_no_grant_is_in_the_future) {
  hold("job", "host|7|1699999990000:5|note");
  EXPECT_EQ(c.holders("job")[0].token, 5 * 1024);
  hold("job", "host|7|1700000005000:5|note");
  EXPECT_EQ(c.holders("job")[0].held_for, 0ms);
}

TEST_F(redis_inspection, a_queue_or_members_of_another_type_hide_no_holder) {
  hold("job");
  world.command({"SET", key("job", 'q'), "a string"});
  world.command({"SET", key("job", 'r'), "a string"});
  ASSERT_EQ(c.holders("job").size(), 1u);
  EXPECT_EQ(c.holders("job")[0].owner, owner);
  EXPECT_EQ(c.holders("job")[0].waiting, 0);
}

TEST_F(redis_inspection, a_key_that_the_user_may_not_read_is_left_out_of_a_list_only) {
  hold("job");
  const std::string right = "$" + std::to_string(owner.size()) + "\r\n" + std::string(owner);
  world.changed = [&](std::string bytes) {
    if (const auto found = bytes.find(right + "\r\n:"); found != bytes.npos)
      bytes.replace(found, right.size(), "-NOPERM No permissions to access a key");
    return bytes;
  };
  EXPECT_EQ(names(), list{});
  std::error_code ec;
  EXPECT_TRUE(c.holders("job", ec).empty());
  EXPECT_EQ(ec, errc::refused);
  world.changed = nullptr;
}

}  // namespace
}  // namespace holdfast::redis
