// Locks in Redis that are left behind, or released by a client that no longer holds them.
#include <holdfast/holdfast.hpp>

#include <thread>

#include "lab/naive_redis.hpp"
#include "lab/story.hpp"
#include "lab/worker_process.hpp"
#include "testkit/servers/tcp_proxy.hpp"

namespace holdfast::lab {

namespace {

using namespace std::chrono_literals;
using testkit::direction;
using testkit::redis_server;
using testkit::tcp_proxy;

void crash_before_expire_naive(play& p) {
  redis_server server;
  worker_process holder([&](const lines& parent) {
    naive_redis own(server);
    parent.receive();
    parent.send(own.setnx("A") ? "1" : "0");
    parent.receive();
  });
  naive_redis other(server);
  actor a(p.line, "client A"), b(p.line, "client B");
  require(holder.ask("acquire") == "1", "A gets the lock");
  a.holds("SETNX lock A: 1. A has the lock; its next command would be EXPIRE lock 1");
  std::this_thread::sleep_for(50ms);
  holder.kill();
  a.leaves_its_lock("killed (SIGKILL) before it sends EXPIRE");
  b.waits("SETNX lock B: 0, repeated each 20 ms");
  bool is_granted = false;
  for (int i = 0; i < 100 && !is_granted; ++i) {
    is_granted = other.setnx("B");
    std::this_thread::sleep_for(20ms);
  }
  const long long pttl = other.pttl();
  b.ends("gives up after 2 s. PTTL lock: " + std::to_string(pttl) + " (the key has no end)",
         tone::bad);
  p.ends(!is_granted && pttl == -1,
         "the lock has no holder and never ends. Each client waits until an operator deletes the "
         "key.");
}

void crash_before_expire_holdfast(play& p) {
  redis_server server;
  tcp_proxy proxy(server.port());
  worker_process holder([&](const lines& parent) {
    const client mine = client::open(proxy.url() + "?ttl=1s");
    parent.send("open");
    parent.receive();
    const lease held = mine.mutex(lock_name).acquire();
  });
  require(holder.receive() == "open", "A has a client");
  naive_redis look(server);
  const client other = client::open(server.url());
  actor a(p.line, "client A"), b(p.line, "client B");
  proxy.set(direction::to_client, {.hold = true});
  a.note("acquire(), ttl 1 s: one script sets the lock and its end");
  holder.send("acquire");
  wait_until("the server has executed A's request", [&] { return !look.is_free(); });
  a.holds("the server has executed it, PTTL lock: " + std::to_string(look.pttl()));
  std::this_thread::sleep_for(50ms);
  holder.kill();
  a.leaves_its_lock("killed (SIGKILL) before the reply reaches it");
  b.waits("acquire(): busy, B waits");
  const auto next = other.mutex(lock_name).try_acquire_for(10s);
  require(bool(next), "B gets the lock");
  a.ends("its lease has ended at the server");
  b.holds("granted, token " + std::to_string(next.token()));
  std::this_thread::sleep_for(100ms);
  p.ends(!next.held(), "the lock ended with A's lease, and B got it.");
}

void expired_delete_naive(play& p) {
  redis_server server;
  naive_redis own(server), second(server), third(server);
  actor a(p.line, "client A"), b(p.line, "client B"), c(p.line, "client C");
  require(own.set_nx_px("A", 300ms), "A gets the lock");
  a.holds("SET lock A NX PX 300: OK. A begins work that takes 500 ms");
  wait_until("A's lock expires", [&] { return own.is_free(); });
  a.believes("the key has expired; A still works");
  require(second.set_nx_px("B", 10s), "B gets the lock");
  b.also_holds("SET lock B NX PX 10000: OK");
  std::this_thread::sleep_for(200ms);
  require(own.del(), "A deletes a key");
  a.ends("work done. DEL lock: 1. A has deleted B's lock", tone::bad);
  b.believes("B's lock is gone; B still works");
  std::this_thread::sleep_for(100ms);
  const bool is_granted = third.set_nx_px("C", 10s);
  c.also_holds("SET lock C NX PX 10000: OK, while B works");
  std::this_thread::sleep_for(200ms);
  p.ends(is_granted && second.get() != "B",
         "A and B, then B and C hold the lock at the same time: each late release admits one "
         "client more.");
}

void expired_delete_holdfast(play& p) {
  redis_server server;
  const client first = client::open(server.url()), second = client::open(server.url()),
               third = client::open(server.url());
  actor a(p.line, "client A"), b(p.line, "client B"), c(p.line, "client C");
  lease own = first.mutex(lock_name).acquire({.ttl = 300ms, .renew = renewal::manual});
  a.holds("acquire(), ttl 300 ms, not renewed. A begins work that takes 500 ms");
  wait_until("A's lease ends", [&] { return !own.held(); });
  a.ends("held() is false: A knows that its lease has ended");
  lease next = second.mutex(lock_name).acquire({.ttl = 10s});
  b.holds("acquire(), ttl 10 s: granted");
  std::this_thread::sleep_for(200ms);
  std::error_code why;
  own.release(why);
  require(why == errc::lost, "A's release reports the loss");
  a.note("release(): \"lost\". The script compared the owner, and deleted nothing");
  std::this_thread::sleep_for(100ms);
  const lease late = third.mutex(lock_name).try_acquire();
  c.good("try_acquire(): busy");
  std::this_thread::sleep_for(200ms);
  p.ends(late || !next.held(), "A's late release left B's lock alone. A got an error, and C has to "
                               "wait for B.");
}

void get_then_delete_naive(play& p) {
  redis_server server;
  naive_redis own(server), second(server), third(server);
  actor a(p.line, "client A"), b(p.line, "client B"), c(p.line, "client C");
  require(own.set_nx_px("A", 500ms), "A gets the lock");
  a.holds("SET lock A NX PX 500: OK");
  wait_until("A's lock has little time left", [&] { return own.pttl() < 200; });
  require(own.get() == "A", "the lock is still A's");
  a.note("GET lock: A. It is A's own lock, so A will send DEL");
  wait_until("A's lock expires", [&] { return second.is_free(); });
  a.believes("the key expires before DEL arrives");
  require(second.set_nx_px("B", 10s), "B gets the lock");
  b.also_holds("SET lock B NX PX 10000: OK");
  std::this_thread::sleep_for(50ms);
  require(own.del(), "A deletes a key");
  a.ends("DEL lock: 1. A has deleted B's lock", tone::bad);
  b.believes("B's lock is gone; B still works");
  std::this_thread::sleep_for(50ms);
  const bool is_granted = third.set_nx_px("C", 10s);
  c.also_holds("SET lock C NX PX 10000: OK, while B works");
  std::this_thread::sleep_for(150ms);
  p.ends(is_granted, "B and C hold the lock at the same time: the comparison was true when A made "
                     "it, and false when A deleted.");
}

void get_then_delete_holdfast(play& p) {
  redis_server server;
  tcp_proxy proxy(server.port());
  const client first = client::open(proxy.url()), second = client::open(server.url()),
               third = client::open(server.url());
  naive_redis look(server);
  actor a(p.line, "client A"), b(p.line, "client B"), c(p.line, "client C");
  lease own = first.mutex(lock_name).acquire({.ttl = 500ms, .renew = renewal::manual});
  a.holds("acquire(), ttl 500 ms, not renewed");
  wait_until("A's lock has little time left", [&] { return look.pttl() < 200; });
  proxy.set(direction::to_server, {.hold = true});
  std::error_code why;
  std::jthread releases([&] { own.release(why); });
  a.ends("release(): the network delays the request");
  wait_until("A's lock expires", [&] { return look.is_free(); });
  lease next = second.mutex(lock_name).acquire({.ttl = 10s});
  b.holds("acquire(), ttl 10 s: granted");
  std::this_thread::sleep_for(50ms);
  proxy.set(direction::to_server, {});
  releases.join();
  a.note("the request arrives; release() reports: " + (why ? why.message() : "released"));
  std::this_thread::sleep_for(50ms);
  const lease late = third.mutex(lock_name).try_acquire();
  c.good("try_acquire(): busy");
  std::this_thread::sleep_for(150ms);
  p.ends(late || !next.held(), "the server compares and deletes in one step, so A's late request "
                               "finds B's lock and leaves it alone.");
}

void unheld_release_naive(play& p) {
  redis_server server;
  naive_redis own(server), second(server), third(server);
  actor a(p.line, "client A"), b(p.line, "client B"), c(p.line, "client C");
  require(own.set_nx_px("A", 10s), "A gets the lock");
  a.holds("SET lock A NX PX 10000: OK");
  std::this_thread::sleep_for(100ms);
  require(!second.set_nx_px("B", 10s), "the lock is busy");
  b.also_holds("SET lock B NX PX 10000: nil. B does not look at the reply, and works");
  std::this_thread::sleep_for(100ms);
  require(second.del(), "B deletes a key");
  b.ends("finally: DEL lock: 1. B has deleted A's lock", tone::bad);
  a.believes("its lock is gone; A still works");
  std::this_thread::sleep_for(50ms);
  const bool is_granted = third.set_nx_px("C", 10s);
  c.also_holds("SET lock C NX PX 10000: OK, while A works");
  std::this_thread::sleep_for(150ms);
  p.ends(is_granted,
         "B worked without the lock, and released the lock of A, so that C got it too.");
}

void unheld_release_holdfast(play& p) {
  redis_server server;
  const client first = client::open(server.url()), second = client::open(server.url()),
               third = client::open(server.url());
  actor a(p.line, "client A"), b(p.line, "client B"), c(p.line, "client C");
  lease own = first.mutex(lock_name).acquire();
  a.holds("acquire(): granted");
  std::this_thread::sleep_for(100ms);
  lease none = second.mutex(lock_name).try_acquire();
  require(!none, "the lock is busy");
  std::error_code at_check;
  try {
    none.check();
  } catch (const lock_error& e) {
    at_check = e.code();
  }
  b.good("try_acquire(): an empty lease. check() before the work throws: " + at_check.message());
  std::this_thread::sleep_for(100ms);
  std::error_code why;
  none.release(why);
  b.good("finally: release(): " + why.message() + ". Nothing is sent to the server");
  std::this_thread::sleep_for(50ms);
  const lease next = third.mutex(lock_name).try_acquire();
  c.good("try_acquire(): busy");
  std::this_thread::sleep_for(150ms);
  p.ends(next || !own.held() || at_check != errc::not_held || why != errc::not_held,
         "the right to release is the lease, and B has none.");
}

}  // namespace

std::vector<story> redis_release_stories() {
  return {
      {"crash-before-expire",
       "A crash between SETNX and EXPIRE",
       "The lock is a key that is set with SETNX; a second command, EXPIRE, gives it an end in "
       "case the holder crashes. The holder crashes between the two.",
       "Two commands are two moments, and a client can end between them. The key and its end must "
       "be set in one command (SET with NX and PX) or in one script, as holdfast does.",
       server::redis,
       {{"SETNX, then EXPIRE", verdict::breaks, crash_before_expire_naive},
        {"holdfast", verdict::stands, crash_before_expire_holdfast}}},
      {"release-without-lock",
       "A release of a lock that was never acquired",
       "The release is DEL in a finally block, and the reply of the acquire is ignored, or the "
       "acquire has failed before the block.",
       "DEL needs no proof of ownership. In holdfast a lease is the only thing that can be "
       "released, and the lease of a failed attempt is empty.",
       server::redis,
       {{"SET NX PX, the reply ignored, DEL in any case", verdict::breaks, unheld_release_naive},
        {"holdfast", verdict::stands, unheld_release_holdfast}}},
      {"expired-holder-deletes",
       "An expired holder deletes its successor's lock",
       "The lock is SET with NX and PX, and the release is DEL. The work of A takes longer than "
       "its lease.",
       "DEL removes whatever the key holds. A release must name its owner and remove nothing else; "
       "holdfast gives each grant an owner of its own, and its release reports the loss.",
       server::redis,
       {{"SET NX PX, then DEL", verdict::breaks, expired_delete_naive},
        {"holdfast", verdict::stands, expired_delete_holdfast}}},
      {"get-then-delete",
       "A release that compares first and deletes afterwards",
       "The release reads the key with GET and sends DEL only when the value is its own. The lease "
       "ends between the two commands.",
       "A comparison by the client is out of date when the next command arrives. The server must "
       "compare and delete in one step: a script, as holdfast has it.",
       server::redis,
       {{"GET, compare, DEL", verdict::breaks, get_then_delete_naive},
        {"holdfast", verdict::stands, get_then_delete_holdfast}}},
  };
}

}  // namespace holdfast::lab
