// A fair lock on the model of Redis, its owners and the clients of Redisson beside them.
#pragma once
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "backend/redis/layouts/redisson_fair/codec.hpp"
#include "tests/unit/backend/redis/layouts/codec_on_model.hpp"

namespace holdfast::redis::redisson_fair {

using namespace std::chrono_literals;
using operation = retrying_operation;
using verdict = retrying_reply::verdict;
using owners = std::vector<std::string>;

struct queue_on_model : testing::Test {
  codec tested;
  codec_on_model on{tested};
  // They began in this order.
  const std::string a = owner(1), b = owner(2), d = owner(3), e = owner(4), f = owner(5);
  const std::string theirs = "5f0c9cf2-23a1-4bd5-b0a7-6b26b2a6d34e:97";

  std::string owner(int i) const {
    return tested.text_of({.high = 1,
                           .low = static_cast<std::uint64_t>(9 - i),
                           .drawn = std::chrono::microseconds(1'700'000'000'000'000 + i)});
  }
  retrying_reply ask(operation what, const std::string& who, duration ttl = 30s,
                     bool may_queue = true, bool had_place = false) {
    return on.ask(what, {.key = "job",
                         .owner = who,
                         .ttl = ttl,
                         .may_queue = may_queue,
                         .had_place = had_place});
  }
  retrying_reply try_lock(const std::string& who, duration ttl = 30s) {
    return ask(operation::try_lock, who, ttl);
  }
  // Of a waiter that was told to wait.
  retrying_reply again(const std::string& who) {
    return ask(operation::try_lock, who, 30s, true, true);
  }
  retrying_reply attempt(const std::string& who) {
    return ask(operation::try_lock, who, 30s, false);
  }
  retrying_reply release(const std::string& who) { return ask(operation::release, who); }
  retrying_reply withdraw(const std::string& who) { return ask(operation::withdraw, who); }
  void try_next() { EXPECT_EQ(again(line().front()).what, verdict::granted); }
  void pass(duration t) { on.now += std::chrono::duration_cast<std::chrono::microseconds>(t); }

  owners line() {
    owners out;
    const std::string all = on.command({"LRANGE", "redisson_lock_queue:{job}", "0", "-1"});
    for (std::size_t at = all.find("\r\n$"); at != all.npos; at = all.find("\r\n$", at + 1)) {
      const std::size_t from = all.find("\r\n", at + 2) + 2;
      out.push_back(all.substr(from, all.find("\r\n", from) - from));
    }
    return out;
  }
  // From now on.
  duration time_of(const std::string& who) {
    const std::string reply = on.command({"ZSCORE", "redisson_lock_timeout:{job}", who});
    const std::string text = reply.substr(reply.find("\r\n") + 2);
    return std::chrono::milliseconds(std::atoll(text.c_str())) - on.now;
  }
  void queued_by_redisson(const std::string& who, duration time) {
    const auto at = std::chrono::duration_cast<std::chrono::milliseconds>(on.now + time).count();
    on.command({"ZADD", "redisson_lock_timeout:{job}", std::to_string(at), who});
    on.command({"RPUSH", "redisson_lock_queue:{job}", who});
  }
  void held_by_redisson() {
    on.command({"HSET", "job", theirs, "1"});
    on.command({"PEXPIRE", "job", "60000"});
  }
  void listen_to(const owners& all) {
    for (const std::string& each : all) on.listen_to(channel_of(each));
    on.heard();
  }
  static std::string channel_of(const std::string& who) {
    return "redisson_lock__channel:{job}:" + who;
  }
  static std::string message_to(const std::string& who) {
    const std::string c = channel_of(who);
    return "*3\r\n$7\r\nmessage\r\n$" + std::to_string(c.size()) + "\r\n" + c + "\r\n$1\r\n0\r\n";
  }
};

}  // namespace holdfast::redis::redisson_fair
