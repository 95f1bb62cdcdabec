// The codec of `redisson-rw` on the model of Redis, and what stands in the keys of one lock.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "backend/redis/layouts/redisson_rw/codec.hpp"
#include "tests/unit/backend/redis/layouts/codec_on_model.hpp"

namespace holdfast::redis::redisson_rw {

// Two of holdfast's, and one of Redisson's.
inline constexpr std::string_view ours = "8743c9c0-0795-4907-87fd-6c719a6b4586:5000000000000000001";
inline constexpr std::string_view third =
    "8743c9c0-0795-4907-87fd-6c719a6b4586:5000000000000000003";
inline constexpr std::string_view foreign = "5f0c9cf2-23a1-4bd5-b0a7-6b26b2a6d34e:97";
inline constexpr std::string_view counter = "redisson_lock_token:{job}";

class rw_on_model {
 public:
  const codec tested{"8743c9c0-0795-4907-87fd-6c719a6b4586"};

 private:
  codec_on_model on_{tested};

 public:
  std::string key = "job";
  std::chrono::microseconds& now = on_.now;
  sim::model_redis& model = on_.model;

  retrying_reply ask(retrying_operation what, std::string_view owner,
                     lock_mode how = lock_mode::exclusive,
                     duration ttl = std::chrono::seconds{10}) {
    return on_.ask(what, {.key = key, .owner = owner, .ttl = ttl, .mode = how});
  }
  retrying_reply renew(std::string_view owner, duration ttl) {
    const lock_request one[] = {{.key = "none", .owner = owner, .ttl = ttl},
                                {.key = key, .owner = owner, .ttl = ttl}};
    const auto replies = on_.renew(one);
    EXPECT_EQ(replies[0].why, errc::not_held) << "nobody has that lock";
    return replies[1];
  }
  std::vector<holder> look(std::string_view k) { return on_.look(k); }
  bool break_lock(std::string_view k, std::string_view seen) { return on_.break_lock(k, seen); }
  std::string command(std::initializer_list<std::string_view> argv) { return on_.command(argv); }
  void listen_to(std::string_view name) {
    on_.listen_to(name);
    on_.heard();
  }
  // The payloads of all messages since the last call: "01".
  std::string messages() {
    constexpr std::string_view before_payload = "\r\n$1\r\n";
    const std::string heard = on_.heard();
    std::string out;
    for (std::size_t at = 0; (at = heard.find(before_payload, at)) != heard.npos;)
      out += heard[at += before_payload.size()];
    return out;
  }
  // As Redisson writes readers.
  void read_by(std::string_view owner, int holds, int ms, std::string_view mode = "read") {
    command({"HSET", key, "mode", mode, owner, std::to_string(holds)});
    for (int i = 1; i <= holds; ++i)
      command({"SET", hold(owner, i), "1", "PX", std::to_string(ms)});
    command({"EVAL",
             "redis.call('PEXPIRE', KEYS[1], math.max(redis.call('PTTL', KEYS[1]), ARGV[1]))", "1",
             key, std::to_string(ms)});
  }
  // "a=1 mode=read 10000 a:1=1 10000": fields and ttl of the hash, then the holds; a, b and c stand
  // for the owners.
  std::string contents() {
    const std::string bulk = command({"EVAL", read_all, "1", "job", ours, foreign, third});
    const std::size_t from = bulk.find("\r\n") + 2;
    return bulk.substr(from, bulk.size() - from - 2);
  }

 private:
  static constexpr std::string_view read_all = R"(
local out, names = {}, {[ARGV[1]] = 'a', [ARGV[2]] = 'b', [ARGV[3]] = 'c'}
local fields = redis.call('HGETALL', KEYS[1])
for i = 1, #fields, 2 do
  local owner, side = string.match(fields[i], '^(.-:%d+)(.*)$')
  local name = owner and names[owner] .. side or fields[i]
  table.insert(out, name .. '=' .. fields[i + 1])
end
table.sort(out)
if out[1] then table.insert(out, redis.call('PTTL', KEYS[1])) end
for _, owner in ipairs(ARGV) do
  for n = 1, 3 do
    local hold = '{' .. KEYS[1] .. '}:' .. owner .. ':rwlock_timeout:' .. n
    local value = redis.call('GET', hold)
    if value then
      table.insert(out, names[owner] .. ':' .. n .. '=' .. value)
      table.insert(out, redis.call('PTTL', hold))
    end
  end
end
return table.concat(out, ' '))";

  static std::string hold(std::string_view owner, int n) {
    return "{job}:" + std::string(owner) + ":rwlock_timeout:" + std::to_string(n);
  }
};

class requests_on_model : public testing::Test {
 protected:
  rw_on_model on;

  retrying_reply read(std::string_view owner, duration ttl = std::chrono::seconds{10}) {
    return on.ask(retrying_operation::try_lock, owner, lock_mode::shared, ttl);
  }
  retrying_reply write(std::string_view owner, duration ttl = std::chrono::seconds{10}) {
    return on.ask(retrying_operation::try_lock, owner, lock_mode::exclusive, ttl);
  }
  retrying_reply release(std::string_view owner) {
    return on.ask(retrying_operation::release, owner);
  }
  void pass(std::chrono::milliseconds d) { on.now += d; }
};

}  // namespace holdfast::redis::redisson_rw
