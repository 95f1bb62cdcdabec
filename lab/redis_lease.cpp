// Leases in Redis: work that outlives them, and a thread that waits for itself.
#include <holdfast/holdfast.hpp>

#include <thread>

#include "lab/naive_redis.hpp"
#include "lab/story.hpp"

namespace holdfast::lab {

namespace {

using namespace std::chrono_literals;
using testkit::redis_server;

void long_work_naive(play& p) {
  redis_server server;
  naive_redis first(server), second(server);
  actor a(p.line, "client A"), b(p.line, "client B");
  require(first.set_nx_px("A", 300ms), "A gets the lock");
  a.holds("SET lock A NX PX 300: OK. The work will take 800 ms");
  b.waits("SET lock B NX: busy, repeated each 2 ms");
  wait_until("B gets the lock", [&] { return second.set_nx_px("B", 10s); });
  a.believes("the lease has ended; A still works");
  b.also_holds("SET lock B NX PX 10000: OK");
  std::this_thread::sleep_for(500ms);
  a.ends("work done");
  const bool is_second = second.get() == "B";
  std::this_thread::sleep_for(50ms);
  p.ends(is_second, "A and B work at the same time for 500 ms.");
}

void long_work_unrenewed(play& p) {
  redis_server server;
  const client first = client::open(server.url()), second = client::open(server.url());
  actor a(p.line, "client A"), b(p.line, "client B");
  lease own = first.mutex(lock_name).acquire({.ttl = 300ms, .renew = renewal::manual});
  a.holds("acquire(), ttl 300 ms, renewal manual. The work takes up to 800 ms");
  b.waits("acquire(): busy, waits");
  std::jthread works([&] {
    const std::stop_token lost = own.loss_token();
    wait_until("A is notified", [&] { return lost.stop_requested(); });
    a.ends("loss_token() is requested: A stops its work");
  });
  lease next = second.mutex(lock_name).acquire();
  works.join();
  const bool is_early = own.held();
  b.holds("granted");
  std::this_thread::sleep_for(450ms);
  p.ends(is_early || !next.held(), "the lease of A ends, and A knows it before B gets the lock. A "
                                   "stops in the middle of its work.");
}

void long_work_renewed(play& p) {
  redis_server server;
  const client first = client::open(server.url()), second = client::open(server.url());
  actor a(p.line, "client A"), b(p.line, "client B");
  lease own = first.mutex(lock_name).acquire({.ttl = 1s});
  const auto end = own.expires();
  a.holds("acquire(), ttl 1 s, renewed automatically. The work will take 1800 ms");
  b.waits("acquire(): busy, waits");
  std::jthread waiter([&] {
    const lease next = second.mutex(lock_name).acquire();
    b.holds("granted");
    std::this_thread::sleep_for(200ms);
    b.ends("release()");
  });
  std::this_thread::sleep_for(1200ms);
  a.good("1200 ms have passed: the lease was renewed, held() is true");
  const bool is_renewed = own.held() && own.expires() > end;
  std::this_thread::sleep_for(600ms);
  const bool is_held = own.held();
  a.ends("work done, release()");
  own.release();
  waiter.join();
  p.ends(!is_renewed || !is_held,
         "the client renews the lease before a third of it has passed, and "
         "B waits until the work is done.");
}

void self_deadlock_naive(play& p) {
  redis_server server;
  naive_redis connection(server);
  actor outer(p.line, "outer()"), inner(p.line, "inner()");
  const auto begun = std::chrono::steady_clock::now();
  require(connection.set_nx_px("outer", 1s), "outer() gets the lock");
  outer.holds("SET lock outer NX PX 1000: OK. outer() calls inner() in the same thread");
  inner.waits("SET lock inner NX: busy, repeated each 2 ms. It waits for its own caller");
  wait_until("inner() gets the lock", [&] { return connection.set_nx_px("inner", 1s); });
  const auto took = std::chrono::steady_clock::now() - begun;
  outer.believes("its lease has ended while it waited for inner()");
  inner.also_holds("granted, because the lease of its own caller has ended");
  std::this_thread::sleep_for(100ms);
  p.ends(took >= 900ms, "the thread waits for itself until its lease ends; without an end it would "
                        "wait forever. Then the lock of outer() is lost.");
}

void self_deadlock_mutex(play& p) {
  redis_server server;
  const client mine = client::open(server.url());
  auto lock = mine.mutex(lock_name);
  actor outer(p.line, "outer()"), inner(p.line, "inner()");
  const std::unique_lock held(lock);
  outer.holds("mutex::lock(): granted. outer() calls inner() in the same thread");
  std::this_thread::sleep_for(20ms);
  std::error_code why;
  try {
    lock.lock();
  } catch (const lock_error& e) {
    why = e.code();
  }
  inner.good("mutex::lock() throws at once: " + why.message());
  std::this_thread::sleep_for(20ms);
  p.ends(why != errc::would_self_deadlock || !lock.current().held(),
         "the mistake is an error at once instead of a wait, and outer() still holds its lock.");
}

void self_deadlock_recursive(play& p) {
  redis_server server;
  const client mine = client::open(server.url()), other = client::open(server.url());
  auto lock = mine.recursive_mutex(lock_name);
  auto rival = other.mutex(lock_name);
  actor outer(p.line, "outer()"), b(p.line, "client B");
  lock.lock();
  outer.holds("recursive_mutex::lock(): granted. outer() calls inner() in the same thread");
  std::this_thread::sleep_for(20ms);
  lock.lock();
  outer.good("inner(): recursive_mutex::lock() returns at once: the same lock, once more");
  std::this_thread::sleep_for(20ms);
  lock.unlock();
  const lease early = rival.try_acquire();
  outer.note("inner(): unlock(). outer() still holds the lock");
  b.note("try_acquire(): busy");
  std::this_thread::sleep_for(20ms);
  outer.ends("outer(): unlock(). The lock is released");
  lock.unlock();
  const lease next = rival.try_acquire_for(5s);
  if (next) b.holds("granted");
  std::this_thread::sleep_for(20ms);
  p.ends(early || !next, "a recursive_mutex counts the locks of its thread, and releases with the "
                         "last unlock().");
}

}  // namespace

std::vector<story> redis_lease_stories() {
  return {
      {"work-longer-than-lease",
       "The work takes longer than the lease",
       "A lease ends by itself, in case its holder crashes. The holder lives, but its work takes "
       "longer.",
       "No fixed lease is long enough for all work and short enough for a crash. holdfast renews "
       "the lease of a living holder (a \"watchdog\"); a holder that cannot renew is notified "
       "before the lock is granted to another client.",
       server::redis,
       {{"SET NX PX, no renewal", verdict::breaks, long_work_naive},
        {"holdfast, renewal manual", verdict::stands, long_work_unrenewed},
        {"holdfast, renewal automatic (the default)", verdict::stands, long_work_renewed}}},
      {"self-deadlock",
       "A thread waits for the lock that it holds",
       "outer() holds the lock and calls inner(), which acquires the same lock.",
       "The naive lock does not know that the holder is the caller. holdfast's mutex reports the "
       "mistake, and its recursive_mutex permits it.",
       server::redis,
       {{"SET NX PX in a loop", verdict::breaks, self_deadlock_naive},
        {"holdfast, mutex", verdict::stands, self_deadlock_mutex},
        {"holdfast, recursive_mutex", verdict::stands, self_deadlock_recursive}}},
  };
}

}  // namespace holdfast::lab
