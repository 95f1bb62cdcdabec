#ifdef HOLDFAST_WITH_MEMORY
#include "fixture.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "api/client_access.hpp"

namespace holdfast::mutants {
namespace {

std::string fresh_name() {
  static std::atomic<int> count{0};
  return "fixture-" + std::to_string(++count);
}

[[noreturn]] void stuck() {
  std::fputs("a call of the library hangs and cannot be stopped\n", stderr);
  std::abort();
}

}  // namespace

fixture::fixture() : store(fresh_name()) {}

fixture::~fixture() {
  store.set_latency({});
  store.end_outage();
  for (auto& one : clients_) {
    store.resume_requests_of(one);
    call<bool> closing([&one](std::stop_token) { return one.close(); });
    if (!passes_until(closing, 10min)) stuck();
  }
}

client& fixture::open(std::string_view options) {
  const auto where = url::parse(store.url() + "?" + std::string(options));
  return clients_.emplace_back(detail::client_access::open(where, {}, env));
}

std::shared_ptr<call<lease>> fixture::acquire(const client& c, const acquire_options& o) {
  return start<lease>([lock = std::make_shared<mutex>(c, lock_name), o](std::stop_token stop) {
    std::error_code ec;
    return lock->acquire(o, std::move(stop), ec);
  });
}

lease fixture::attempt(const client& c) {
  const auto one = start<lease>([&c](std::stop_token) {
    std::error_code ec;
    return c.mutex(lock_name).try_acquire({}, ec);
  });
  if (!passes_until(*one, 10min)) stuck();
  return one->result();
}

void fixture::pass(base::duration how_long, const pending* one) {
  const auto until = now() + how_long;
  while (env.next_alarm() <= until) {
    env.advance_to_next_alarm();
    if (one) one->settle();
  }
  env.advance(until - now());
  if (one) one->settle();
}

bool fixture::passes_until(pending& one, base::duration most) {
  const auto until = now() + most;
  one.settle();
  while (!one.done() && env.next_alarm() <= until) {
    env.advance_to_next_alarm();
    one.settle();
  }
  if (one.done()) return true;
  one.stop();
  one.settle();
  return false;
}

}  // namespace holdfast::mutants
#endif
