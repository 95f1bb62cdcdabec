// Leases whose session the backend keeps alive.
#include <holdfast/holdfast.hpp>

#include <chrono>
#include <future>
#include <string>
#include <thread>

#include "scenario.hpp"
#include "testkit/fake_store.hpp"
#include "testkit/manual_environment.hpp"

namespace holdfast::mutants {
namespace {

using base::mutant;
using testkit::fake_store;

constexpr auto a_third = fake_store::session_timeout / 3;

struct in_session {
  testkit::manual_environment env;
  const client c = fake_store::open(seam::lifetime::session, env);
  fake_store& store = fake_store::of(c);
  mutex m{c, "job"};
};

std::string the_core_renews_no_session() {
  in_session s;
  const lease held = s.m.acquire();
  for (int i = 0; i < 6; ++i) {
    s.env.advance(a_third);
    s.store.confirm();
  }
  return s.store.renewals() == 0 ? "" : "the backend was asked to renew what it keeps by itself";
}

std::string a_doubt_reaches_the_holder() {
  in_session s;
  const lease held = s.m.acquire();
  const auto doubt = held.doubt_token();
  s.store.doubt();
  s.env.advance({});
  return doubt.stop_requested() ? "" : "the store is out of reach, and the holder is not notified";
}

std::string a_confirmed_session_extends_every_lease() {
  in_session s;
  const lease held = s.m.acquire();
  for (int i = 0; i < 6; ++i) {
    s.env.advance(a_third);
    s.store.confirm();
  }
  return held.held() ? "" : "the session lives, and the lease is lost";
}

std::string a_request_for_the_lock_reaches_the_holder() {
  in_session s;
  const lease held = s.m.acquire();
  const auto request = held.revocation_token();
  s.store.request_revocation();
  s.env.advance({});
  return request.stop_requested() ? "" : "somebody asks for the lock, and the holder is not told";
}

// A grant of the fake store does not show whether others wait.
std::string a_lingering_client_checks_for_waiters() {
  testkit::manual_environment env;
  const client c = fake_store::open(seam::lifetime::ttl, env, "linger=60s");
  mutex m(c, "job");
  m.lock();
  m.unlock();
  return fake_store::of(c).checks_for_waiters() == 1 ? "" : "a waiter that queued first waits on";
}

// The release is left to the thread that sends a renewal, and that thread is slow.
std::string close_waits_for_a_release_in_other_hands() {
  using namespace std::chrono_literals;
  testkit::manual_environment env;
  client c = fake_store::open(seam::lifetime::ttl, env);
  mutex m(c, "job");
  lease held = m.acquire({.ttl = 9s});
  std::promise<void> renewing, closing;
  std::size_t left = 0;
  fake_store& store = fake_store::of(c);
  store.on_renewal([&] {
    renewing.set_value();
    (void)closing.get_future().wait_for(100ms);  // no longer: close() waits for this thread
  });
  store.on_close([&](std::size_t held_then) {
    left = held_then;
    closing.set_value();
  });
  const std::jthread renews([&] { env.advance(3s); });
  renewing.get_future().wait();
  held.unlock();
  return c.close() && left > 0 ? "close() says that all is released, and a lock is not" : "";
}

constexpr scenario of_lifetime[] = {
    {mutant::session_renewed_by_core, "session", the_core_renews_no_session},
    {mutant::doubt_ignored, "session", a_doubt_reaches_the_holder},
    {mutant::revocation_ignored, "session", a_request_for_the_lock_reaches_the_holder},
    {mutant::taken_line_not_peeked, "ttl", a_lingering_client_checks_for_waiters},
    {mutant::verbs_left_at_close, "ttl", close_waits_for_a_release_in_other_hands},
    {mutant::unasked_extension_ignored, "session", a_confirmed_session_extends_every_lease},
};

}  // namespace

std::span<const scenario> lifetime_scenarios() { return of_lifetime; }

}  // namespace holdfast::mutants
