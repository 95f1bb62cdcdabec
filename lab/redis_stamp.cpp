// Locks in Redis whose value is a time stamp, written and judged by the clients.
#include <holdfast/holdfast.hpp>

#include <string>
#include <thread>
#include <vector>

#include "lab/naive_redis.hpp"
#include "lab/story.hpp"
#include "lab/worker_process.hpp"
#include "testkit/servers/clock_shim.hpp"

namespace holdfast::lab {

namespace {

using namespace std::chrono_literals;
using testkit::redis_server;

constexpr const char* dead_stamp = "1700000000000";  // an end that has passed

long long unix_ms() {
  using namespace std::chrono;
  return floor<milliseconds>(system_clock::now().time_since_epoch()).count();
}

// The key that a client left which crashed some time ago.
void leave_dead_lock(naive_redis& c1, actor& lane) {
  require(c1.setnx(dead_stamp), "C1 gets the lock");
  lane.leaves_its_lock(std::string("SETNX lock ") + dead_stamp +
                       ": 1. C1 crashes; that time passes");
  std::this_thread::sleep_for(50ms);
}

// C1 has left a dead lock, and C2 and C3 have seen it.
struct race {
  race(const redis_server& server, play& p)
      : second(server),
        third(server),
        c1(p.line, "client C1"),
        c2(p.line, "client C2"),
        c3(p.line, "client C3") {
    naive_redis first(server);
    leave_dead_lock(first, c1);
    require(second.get() == dead_stamp && third.get() == dead_stamp, "both see the dead lock");
    c2.note("GET lock: the time has passed");
    c3.note("GET lock: the time has passed");
    std::this_thread::sleep_for(50ms);
  }
  naive_redis second, third;
  actor c1, c2, c3;
};

void race_by_del(play& p) {
  redis_server server;
  race r(server, p);
  require(r.second.del() && r.second.setnx(std::to_string(unix_ms() + 10'000)), "C2 gets the lock");
  r.c1.ends("C2 has deleted its lock");
  r.c2.holds("DEL lock: 1. SETNX lock: 1. C2 has the lock");
  std::this_thread::sleep_for(100ms);
  require(r.third.del(), "C3 deletes a key");
  r.c3.bad("DEL lock: 1. C3 still trusts its GET, and deletes C2's lock");
  r.c2.believes("its lock is gone");
  const bool is_granted = r.third.setnx(std::to_string(unix_ms() + 10'000));
  r.c3.also_holds("SETNX lock: 1. C3 has the lock too");
  std::this_thread::sleep_for(150ms);
  p.ends(is_granted, "C2 and C3 hold the lock at the same time.");
}

void race_by_getset(play& p) {
  redis_server server;
  race r(server, p);
  const std::string mine = std::to_string(unix_ms() + 10'000);
  require(r.second.getset(mine) == dead_stamp, "C2 gets the lock");
  r.c1.ends("C2 has replaced its time");
  r.c2.holds("GETSET lock: the dead time. C2 has replaced it, so C2 has the lock");
  std::this_thread::sleep_for(100ms);
  const std::string seen = r.third.getset(std::to_string(unix_ms() + 10'000));
  r.c3.good("GETSET lock: C2's time, in the future. C3 has lost the race, and waits");
  std::this_thread::sleep_for(150ms);
  p.ends(seen != mine, "GETSET shows each client what it has replaced, and only one replaces the "
                       "dead time. But C3 has written its own time over C2's: see the next story.");
}

void race_holdfast(play& p) {
  redis_server server;
  worker_process dies([&](const lines& parent) {
    const client mine = client::open(server.url());
    const lease held = mine.mutex(lock_name).acquire({.ttl = 300ms});
    parent.send("held");
    parent.receive();
  });
  actor c1(p.line, "client C1"), c2(p.line, "client C2"), c3(p.line, "client C3");
  const client second = client::open(server.url()), third = client::open(server.url());
  require(dies.receive() == "held", "C1 gets the lock");
  naive_redis look(server);
  const std::string owner = look.get();
  dies.kill();
  c1.leaves_its_lock("acquire(), ttl 300 ms: granted. C1 is killed");
  const auto take = [&p](const client& c, actor& lane) {
    lane.waits("acquire(): busy, waits");
    lease held = c.mutex(lock_name).acquire();
    lane.holds("granted, token " + std::to_string(held.token()));
    std::this_thread::sleep_for(150ms);
    if (!held.held()) p.has_damage = true;
    lane.ends("release()");
    held.release();
  };
  std::jthread of_c2([&] { take(second, c2); });
  std::jthread of_c3([&] { take(third, c3); });
  wait_until("C1's lease ends", [&] { return look.get() != owner; });
  c1.ends("its lease has ended");
  of_c2.join();
  of_c3.join();
  p.ends(p.has_damage, "the server ends the dead lease, and grants the lock to one waiter after "
                       "the other. No client judges or deletes the lock of another.");
}

void overwritten_stamp(play& p) {
  redis_server server;
  naive_redis first(server), second(server), third(server), fourth(server);
  actor c1(p.line, "client C1"), c2(p.line, "client C2"), c3(p.line, "client C3"),
      c4(p.line, "client C4");
  leave_dead_lock(first, c1);
  const long long now = unix_ms();
  const std::string of_c2 = std::to_string(now + 10'000), of_c3 = std::to_string(now + 10'005);
  require(second.getset(of_c2) == dead_stamp, "C2 gets the lock");
  c1.ends("C2 has replaced its time");
  c2.holds("GETSET lock " + of_c2 + ": the dead time. C2 has the lock");
  std::this_thread::sleep_for(50ms);
  require(third.getset(of_c3) == of_c2, "C3 loses the race");
  c3.bad("GETSET lock " + of_c3 + ": C2's time. C3 loses, but its time is stored now");
  std::this_thread::sleep_for(100ms);
  const bool is_own = second.get() == of_c2;
  c2.leaves_its_lock("release: GET lock is not the time that C2 wrote, so C2 deletes nothing");
  c4.waits("GET lock: the time has not passed. SETNX lock: 0");
  std::this_thread::sleep_for(300ms);
  const bool is_stuck = !fourth.setnx("C4") && fourth.get() == of_c3;
  c4.ends("still waits, until C3's time passes", tone::bad);
  p.ends(!is_own && is_stuck,
         "a loser of the race overwrites the holder's time. The holder cannot "
         "release its own lock, which no client holds until that time passes.");
}

void overwritten_stamp_holdfast(play& p) {
  redis_server server;
  const client second = client::open(server.url()), third = client::open(server.url()),
               fourth = client::open(server.url());
  naive_redis look(server);
  actor c2(p.line, "client C2"), c3(p.line, "client C3"), c4(p.line, "client C4");
  lease held = second.mutex(lock_name).acquire();
  c2.holds("acquire(): granted");
  const std::string owner = look.get();
  std::this_thread::sleep_for(50ms);
  const lease lost_race = third.mutex(lock_name).try_acquire();
  const bool is_untouched = !lost_race && look.get() == owner;
  c3.good("try_acquire(): busy. The lock still has C2's owner");
  std::this_thread::sleep_for(100ms);
  std::error_code why;
  held.release(why);
  c2.ends(why ? "release(): " + why.message() : "release(): done");
  const lease next = fourth.mutex(lock_name).try_acquire();
  if (next) c4.holds("try_acquire(): granted");
  std::this_thread::sleep_for(300ms);
  p.ends(!is_untouched || why || !next, "an attempt at a busy lock writes nothing, so C2 releases "
                                        "its lock and C4 gets it at once.");
}

// The result of B, a process whose clock is an hour ahead.
struct attempt_of_b {
  bool is_granted = false;
  std::string report;
};

attempt_of_b attempt_an_hour_ahead(std::vector<std::string> words) {
  const testkit::scratch_folder folder;
  testkit::clock_shim shim(folder.file("clock"));
  shim.set_offset(1h);
  words.insert(words.begin(), "/proc/self/exe");
  testkit::program other({words, shim.environment(), folder.file("out")});
  attempt_of_b done;
  done.is_granted = other.wait(20s) == 0;
  done.report = folder.read("out");
  if (!done.report.empty()) done.report.pop_back();  // the end of the line
  require(done.report.ends_with(done.is_granted ? "granted" : "busy"), "B has tried");
  require(std::stoll(done.report) > unix_ms() + 3'500'000, "B's clock is ahead");
  return done;
}

void clocks_apart(play& p) {
  redis_server server;
  naive_redis first(server);
  actor a(p.line, "client A"), b(p.line, "client B");
  const std::string end_of_a = std::to_string(unix_ms() + 600'000);
  require(first.setnx(end_of_a), "A gets the lock");
  a.holds("SETNX lock " + end_of_a + ": 1. By A's clock it ends in 10 minutes");
  std::this_thread::sleep_for(100ms);
  const attempt_of_b done =
      attempt_an_hour_ahead({"attempt-at-stamp", std::to_string(server.port())});
  const bool is_replaced = first.get() != end_of_a;
  if (is_replaced) a.believes("its time is replaced; A has done nothing wrong");
  b.also_holds("a process whose clock is 1 h ahead: " + done.report);
  std::this_thread::sleep_for(200ms);
  p.ends(done.is_granted && is_replaced,
         "A and B hold the lock at the same time, because B compares A's clock with its own.");
}

void clocks_apart_holdfast(play& p) {
  redis_server server;
  const client first = client::open(server.url());
  actor a(p.line, "client A"), b(p.line, "client B");
  lease held = first.mutex(lock_name).acquire({.ttl = 10min});
  a.holds("acquire(), ttl 10 min: granted");
  const attempt_of_b done = attempt_an_hour_ahead({"attempt", server.url(), lock_name});
  b.good("a process whose clock is 1 h ahead: " + done.report);
  std::this_thread::sleep_for(100ms);
  p.ends(done.is_granted || !held.held(), "only the server's clock ends a lease, and a client "
                                          "measures durations, never the time of day.");
}

}  // namespace

std::vector<story> redis_stamp_stories() {
  return {
      {"dead-lock-race",
       "Two clients race to delete a dead lock",
       "The lock's value is the time at which it ends, because the key itself never expires. C1 "
       "has crashed. C2 and C3 both read a time that has passed, and both replace the lock.",
       "DEL removes whatever is stored when it arrives, which is no longer what was read. GETSET "
       "replaces and returns the old value in one step, so one client wins. With holdfast the "
       "server removes the dead lock, and no client has to.",
       server::redis,
       {{"GET, DEL, SETNX", verdict::breaks, race_by_del},
        {"GET, GETSET", verdict::stands, race_by_getset},
        {"holdfast", verdict::stands, race_holdfast}}},
      {"overwritten-stamp",
       "The loser of GETSET overwrites the holder's time stamp",
       "The lock's value is the time at which it ends, and a dead one is replaced with GETSET. The "
       "client that loses the race has written too.",
       "The value is the holder's only proof of ownership, and GETSET lets every client change it. "
       "An attempt must change nothing unless it succeeds.",
       server::redis,
       {{"GETSET, release if the time is one's own", verdict::breaks, overwritten_stamp},
        {"holdfast", verdict::stands, overwritten_stamp_holdfast}}},
      {"clocks-apart",
       "The clocks of two clients differ",
       "The lock's value is the time at which it ends. A writes it by its own clock, and B "
       "compares it with another clock, which is an hour ahead.",
       "Clocks of different machines must not be compared. One clock, the server's, decides when a "
       "lease ends.",
       server::redis,
       {{"SETNX with a time stamp, GETSET", verdict::breaks, clocks_apart},
        {"holdfast", verdict::stands, clocks_apart_holdfast}}},
  };
}

}  // namespace holdfast::lab
