// lock_or_queue.lua and release.lua on the model of Redis: the usual cases, which have parts of
// their own, and the cases next to them.
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/redis/layouts/scripts.hpp"
#include "tests/sim/redis/model/model_redis.hpp"

namespace holdfast::redis {
namespace {

class redis_queue_scripts : public testing::Test, private sim::peer {
 protected:
  redis_queue_scripts() { run({"SET", "job", one, "PX", "10000"}); }

  std::string request(std::string_view id) {
    return call(string::scripts::lock_or_queue, {id, "30000", "250", "", "", stamp});
  }
  std::string release(std::string_view id) { return call(string::scripts::release, {id, stamp}); }
  void enqueue(std::string_view id) {
    const std::string score = std::to_string(1'700'000'000'000'000 + ++enqueued_);
    run({"ZADD", "job:q", score, id});
  }
  void listen_to(std::string_view id) {
    run_on(model.connect(heard_), {"SUBSCRIBE", "hf:" + std::string(id.substr(4, 16))});
    heard();
  }
  // Since the last call.
  std::string heard() { return std::exchange(heard_.arrived, {}); }
  std::string_view owner() { return model.string_at("job") ? model.string_at("job")->text : ""; }
  std::string run(std::vector<std::string_view> argv) { return model.execute(connection, argv); }

  static bool has(std::string_view text, std::string_view part) {
    return text.find(part) != text.npos;
  }

  // Claims of four clients, whose channels are hf:000000000000000<n>.
  static constexpr std::string_view one = "hf1:0000000000000001:a", two = "hf1:0000000000000002:b",
                                    three = "hf1:0000000000000003:c",
                                    four = "hf1:0000000000000004:d",
                                    reader = "hfs:0000000000000002:e";
  static constexpr std::string_view stamp = "01234567";
  static constexpr std::string_view released = "*2\r\n:1\r\n:0\r\n",
                                    not_the_owner = "*2\r\n:0\r\n:0\r\n";
  std::chrono::microseconds now{1'700'000'000'000'000};
  sim::model_redis model{[this] { return now; }};
  const int connection = model.connect(*this);

 private:
  struct listener final : sim::peer {
    void deliver(std::string_view bytes) override { arrived += bytes; }
    void kicked() override {}
    std::string arrived;
  };

  std::string call(const script& s, const std::vector<std::string_view>& arguments) {
    std::vector<std::string_view> argv{"EVAL",  s.text, "6",     "job",  "job:q",
                                       "job:m", "n",    "job:r", "job:p"};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    return run(argv);
  }
  void run_on(int other, const std::vector<std::string>& words) {
    const std::vector<std::string_view> argv(words.begin(), words.end());
    model.execute(other, argv);
  }
  void deliver(std::string_view) override {}
  void kicked() override {}

  listener heard_;
  int enqueued_ = 0;
};

TEST_F(redis_queue_scripts, a_request_behind_a_holder_is_queued_and_the_first_one_notifies_it) {
  listen_to(one);
  EXPECT_EQ(request(two),
            "*7\r\n:2\r\n:1700000000000000\r\n:1700000000000000\r\n:0\r\n:10000\r\n:1\r\n:0\r\n");
  EXPECT_TRUE(has(heard(), "wanted||hf1:0000000000000001:a|job"));
  now += std::chrono::seconds{1};
  EXPECT_EQ(request(three),
            "*7\r\n:2\r\n:1700000001000000\r\n:1700000001000000\r\n:1\r\n:9000\r\n:1\r\n:0\r\n");
  EXPECT_EQ(heard(), "");
}

TEST_F(redis_queue_scripts, a_request_that_is_repeated_keeps_its_place) {
  request(two);
  request(three);
  now += std::chrono::seconds{1};
  EXPECT_EQ(request(two),
            "*7\r\n:2\r\n:1700000000000000\r\n:1700000001000000\r\n:0\r\n:9000\r\n:1\r\n:0\r\n");
  EXPECT_EQ(model.members_at("job:q"), (std::vector<std::string_view>{two, three}));
}

TEST_F(redis_queue_scripts, a_release_grants_to_the_first_waiter_and_gives_the_second_the_timer) {
  for (const std::string_view id : {two, three}) {
    enqueue(id);
    listen_to(id);
  }
  EXPECT_EQ(release(one), released);
  const std::string messages = heard();
  EXPECT_TRUE(has(messages, "grant|1700000000000000|1700000000000000|250|1|01234567|"
                            "hf1:0000000000000002:b|job"))
      << messages;
  EXPECT_TRUE(has(messages, "look|1700000000250000|hf1:0000000000000003:c|job")) << messages;
  EXPECT_EQ(owner(), two);
  EXPECT_EQ(run({"PTTL", "job"}), ":250\r\n");
  EXPECT_EQ(model.members_at("job:q"), std::vector<std::string_view>{three});
}

TEST_F(redis_queue_scripts, the_timer_passes_a_waiter_that_does_not_listen) {
  for (const std::string_view id : {two, three, four}) enqueue(id);
  listen_to(two);
  listen_to(four);
  EXPECT_EQ(release(one), released);
  EXPECT_TRUE(has(heard(), "look|1700000000250000|hf1:0000000000000004:d|job"));
  EXPECT_EQ(owner(), two);
  EXPECT_EQ(model.members_at("job:q"), std::vector<std::string_view>{four});
}

TEST_F(redis_queue_scripts, a_release_passes_a_first_waiter_that_does_not_listen) {
  for (const std::string_view id : {two, three}) enqueue(id);
  listen_to(three);
  EXPECT_EQ(release(one), released);
  const std::string messages = heard();
  EXPECT_TRUE(has(messages, "|250|0|01234567|hf1:0000000000000003:c|job")) << messages;
  EXPECT_FALSE(has(messages, "look|")) << messages;
  EXPECT_EQ(owner(), three);
  EXPECT_TRUE(model.members_at("job:q").empty());
}

TEST_F(redis_queue_scripts, a_release_with_a_reader_as_the_first_waiter_opens_a_group) {
  enqueue(reader);
  listen_to(reader);
  EXPECT_EQ(release(one), released);
  EXPECT_EQ(owner(), "hfg:1700000000000000");
  EXPECT_EQ(model.members_at("job:r"), std::vector<std::string_view>{reader});
}

TEST_F(redis_queue_scripts, a_release_for_which_nobody_waits_leaves_no_key) {
  run({"HSET", "job:m", one, "note"});
  EXPECT_EQ(release(one), released);
  EXPECT_TRUE(model.key_names().empty());
}

TEST_F(redis_queue_scripts, a_release_by_another_than_the_owner_removes_its_note_and_its_place) {
  enqueue(two);
  run({"HSET", "job:m", two, "note"});
  EXPECT_EQ(release(two), not_the_owner);
  EXPECT_EQ(owner(), one);
  EXPECT_EQ(model.key_names(), std::vector<std::string>{"job"});
}

}  // namespace
}  // namespace holdfast::redis
