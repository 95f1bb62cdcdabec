// As redis_server.cpp, for readers, permits, a downgrade, several locks at once, and questions.
#include "fuzzed_world.hpp"

namespace {

using namespace std::chrono_literals;
using fuzzed::require;

void extend_and_leave(holdfast::lease& held) {
  if (!held) return;
  require(held.token() > 0);
  std::error_code ec;
  held.extend(5s, ec);
  held.release(ec);
  require(!held);
}

void read_and_write(const holdfast::client& c) {
  std::error_code ec;
  const auto m = c.shared_mutex("fuzzed");
  auto reader = m.try_acquire_shared_for(10s, {.ttl = 3s}, {}, ec);
  extend_and_leave(reader);
  auto writer = m.try_acquire_for(10s, {.ttl = 3s}, {}, ec);
  if (!writer) return;
  try {
    writer = m.downgrade(std::move(writer));
  } catch (const holdfast::lock_error&) {}
  extend_and_leave(writer);
}

void take_permits(const holdfast::client& c) {
  std::error_code ec;
  const auto pool = c.semaphore("pool", 3);
  auto some = pool.try_acquire_for(10s, {.ttl = 3s, .permits = 2}, {}, ec);
  auto one_more = pool.try_acquire({.ttl = 3s}, ec);
  extend_and_leave(some);
  extend_and_leave(one_more);
}

void take_several(const holdfast::client& c) {
  std::error_code ec;
  auto one = c.mutex("one"), two = c.mutex("two");
  const holdfast::multi_mutex both(one, two);
  auto set = both.try_acquire_for(10s, {.ttl = 3s}, {}, ec);
  for (const auto& member : set.members()) require(member.token() > 0);
  set.release(ec);
}

void use(const holdfast::client& c) {
  read_and_write(c);
  take_permits(c);
  take_several(c);
  try {
    (void)c.holders("pool");
  } catch (const holdfast::lock_error&) {}
  (void)c.list();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzzed::play({data, size}, use);
  return 0;
}
