#include "tests/sim/redis/layouts.hpp"

#include <algorithm>

#include "backend/redis/layouts/lua/codec.hpp"
#include "backend/redis/layouts/redisson/codec.hpp"
#include "backend/redis/layouts/redisson_fair/codec.hpp"
#include "backend/redis/layouts/redisson_rw/codec.hpp"
#include "tests/sim/redis/lua_view.hpp"
#include "tests/sim/redis/redis_view.hpp"
#include "tests/sim/redis/redisson_view.hpp"

namespace holdfast::sim {

namespace {

template <class View>
std::unique_ptr<lock_view> view_of(redis_store& s, const std::vector<std::string>& lock_names) {
  return std::make_unique<View>(s, lock_names);
}

constexpr seam::capabilities of_string{
    .queue = seam::order::fifo,
    .contention = seam::contention_signal::push,
    .modes = seam::bit_of(lock_mode::exclusive) | seam::bit_of(lock_mode::shared) |
             seam::bit_of(lock_mode::permit),
    .tokens = true,
    .shown_by_renewal = true,
    .downgrade = true,
};

template <class View>
played_layout retrying(std::string_view name, const redis::retrying_codec& codec,
                       std::string_view taken_right) {
  const redis::retrying_recipe::rules& r = codec.facts().rules;
  const base::duration pause = r.has_channel ? base::duration{} : r.back_off_max;
  played_layout out;
  out.name = name;
  out.can = codec.facts().can;
  out.longest_pause = pause;
  out.taken_right = taken_right;
  out.view = view_of<View>;
  return out;
}

played_layout redisson_lock() {
  using namespace redis::redisson;
  played_layout out = retrying<redisson_view>("redisson", codec({}, waiters::listen), "hset");
  out.only_counts = true;
  out.foreign_takes = "if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end "
                      "redis.call('HSET', KEYS[1], ARGV[1], 1) "
                      "if ARGV[2] then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 1";
  out.foreign_leaves =
      "if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return 0 end "
      "redis.call('DEL', KEYS[1]) "
      "return redis.call('PUBLISH', 'redisson_lock__channel:{' .. KEYS[1] .. '}', '0')";
  return out;
}

played_layout redisson_fair_lock() {
  const redis::redisson_fair::codec codec;
  played_layout out = retrying<redisson_fair_view>("redisson-fair", codec, "hset");
  out.only_counts = true;
  out.window_of_waiter = redis::redisson_fair::window;
  out.foreign_takes =
      "if redis.call('EXISTS', KEYS[1], 'redisson_lock_queue:{' .. KEYS[1] .. '}') > 0 then "
      "return 0 end redis.call('HSET', KEYS[1], ARGV[1], 1) "
      "if ARGV[2] then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 1";
  out.foreign_leaves =
      "if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return 0 end "
      "redis.call('DEL', KEYS[1]) "
      "local head = redis.call('LINDEX', 'redisson_lock_queue:{' .. KEYS[1] .. '}', 0) "
      "if not head then return 1 end "
      "return redis.call('PUBLISH', 'redisson_lock__channel:{' .. KEYS[1] .. '}:' .. head, '0')";
  return out;
}

played_layout redisson_rw_lock() {
  const redis::redisson_rw::codec codec({});
  played_layout out = retrying<redisson_rw_view>("redisson-rw", codec, "hset");
  out.foreign_takes = "if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end "
                      "redis.call('HSET', KEYS[1], 'mode', 'write', ARGV[1] .. ':write', 1) "
                      "if ARGV[2] then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 1";
  out.foreign_leaves =
      "if redis.call('HEXISTS', KEYS[1], ARGV[1] .. ':write') == 0 then return 0 end "
      "redis.call('DEL', KEYS[1]) "
      "return redis.call('PUBLISH', 'redisson_rwlock:{' .. KEYS[1] .. '}', '1')";
  return out;
}

const std::vector<played_layout>& all_played() {
  static const std::vector<played_layout> all{
      {.name = "string", .can = of_string, .taken_right = "set", .view = view_of<redis_view>},
      retrying<lua_view>("lua", redis::lua::codec(), "setnx"),
      redisson_lock(),
      redisson_fair_lock(),
      redisson_rw_lock(),
  };
  return all;
}

plan limited(plan p, const seam::capabilities& can) {
  constexpr lock_mode wanted[] = {lock_mode::exclusive, lock_mode::shared, lock_mode::permit};
  const auto is_able = [&](kind k) {
    return (can.modes & seam::bit_of(wanted[static_cast<int>(k)])) != 0;
  };
  if (!is_able(p.locks_are)) p.locks_are = is_able(kind::shared) ? kind::shared : kind::mutex;
  if (p.locks_are != kind::semaphore) p.permits = 0;
  return p;
}

plan drawn(plan p, const played_layout& l) {
  if (l.is_usual()) return p;
  p.layout = l.name;
  return limited(std::move(p), l.can);
}

}  // namespace

const played_layout* layout_named(std::string_view name) {
  const auto& all = all_played();
  if (name.empty()) return &all.front();
  const auto found = std::ranges::find(all, name, &played_layout::name);
  return found == all.end() ? nullptr : &*found;
}

std::vector<std::string_view> played_layouts() {
  std::vector<std::string_view> out;
  for (const played_layout& l : all_played()) out.push_back(l.name);
  return out;
}

plan draw(std::uint64_t seed, const played_layout& l) { return drawn(draw(seed), l); }

plan draw(std::uint64_t seed, flavour how, const played_layout& l) {
  return drawn(draw(seed, how), l);
}

}  // namespace holdfast::sim
