#include "contender.hpp"

#include <system_error>

namespace holdfast::redis_test {
namespace {

using namespace std::chrono_literals;

constexpr unsigned readers_max = 100;
constexpr std::uint32_t permits_in_all = 2;
constexpr auto look_every = 1ms;
constexpr int short_stay = 20, long_stay = 1'500;  // ms

}  // namespace

contender::contender(const std::string& url, const contended_lock& what, witness& w,
                     guarded_counter& counter, std::uint64_t seed)
    : lock_(what),
      witness_(w),
      counter_(counter),
      dice_(seed),
      client_(client::open(url + "&layout=" + what.layout)),
      thread_([this](const std::stop_token& stop) {
        while (!stop.stop_requested()) play(stop);
      }) {}

lease contender::take(stay& s, const std::stop_token& stop) {
  std::error_code ec;  // an outage; the next attempt is another one
  s.called = lease_clock::now();
  switch (lock_.use) {
    case lock_use::exclusive: return client_.mutex(lock_.name).acquire({}, stop, ec);
    case lock_use::permits:
      s.capacity = permits_in_all;
      return client_.semaphore(lock_.name, permits_in_all).acquire({}, stop, ec);
    case lock_use::readers_and_writers: break;
  }
  s.capacity = readers_max;
  const auto both = client_.shared_mutex(lock_.name);
  if (!one_of(2)) return both.acquire_shared({}, stop, ec);
  s.weight = readers_max;
  return both.acquire({}, stop, ec);
}

void contender::play(const std::stop_token& stop) {
  stay s;
  s.lock = lock_.name;
  lease held = take(s, stop);
  if (!held) return std::this_thread::sleep_for(look_every);
  s.from = s.to = lease_clock::now();
  s.token = held.token();
  hold(held, s, stop);
  std::error_code ignored;
  if (one_of(2))
    held.release(ignored);
  else
    held.unlock();
  if (s.from < s.to) witness_.add(s);
  std::this_thread::sleep_for(up_to(lock_.pause_max));
}

void contender::hold(const lease& held, stay& s, const std::stop_token& stop) {
  ++grants_;
  const bool writes = s.weight == s.capacity && s.token != 0;
  const instant end = s.from + up_to(one_of(3) ? long_stay : short_stay);
  bool is_refused = false;
  for (;;) {
    const instant now = lease_clock::now();
    if (!held.held()) break;
    s.to = now;
    if (writes && !counter_.write(s.token)) is_refused = true;
    if (now >= end || stop.stop_requested()) break;
    std::this_thread::sleep_for(look_every);
  }
  if (is_refused) ++refused_;
}

}  // namespace holdfast::redis_test
