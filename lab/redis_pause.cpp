// Writes that arrive after the lease of their writer: no lock prevents them, a fence refuses them.
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

constexpr const char* report_key = "report";  // what the lock protects

// The events of each pause: A gets the lock, stops, and goes on when B has written.
struct paused_holder {
  paused_holder(play& p, const std::function<void(const lines&)>& body)
      : process(body), a(p.line, "client A"), b(p.line, "client B"), data(p.line, "the report") {}

  void hold_and_stop(const char* how) {
    require(process.receive() == "held", "A gets the lock");
    a.holds(how);
    std::this_thread::sleep_for(100ms);
    process.stop();
    a.stops("its process is stopped (SIGSTOP), as in a pause of a virtual machine");
  }
  std::string go_on_and_write() {
    process.go_on();
    a.believes("goes on, and writes \"A\" as it was about to");
    return process.ask("write");
  }
  // The end of all variants.
  void judge(play& p, const std::string& stored, const char* if_stale, const char* if_not) {
    data.note("holds \"" + stored + "\"");
    std::this_thread::sleep_for(100ms);
    p.ends(stored != "B", stored == "B" ? if_not : if_stale);
  }

  worker_process process;
  actor a, b, data;
};

void pause_naive(play& p) {
  redis_server server;
  paused_holder s(p, [&](const lines& parent) {
    naive_redis own(server);
    if (own.set_nx_px("A", 400ms)) parent.send("held");
    parent.receive();
    own.command({"SET", report_key, "A"});
    parent.send("written");
  });
  naive_redis second(server);
  s.hold_and_stop("SET lock A NX PX 400: OK. A prepares a report");
  s.b.waits("SET lock B NX: busy, repeated each 2 ms");
  wait_until("B gets the lock", [&] { return second.set_nx_px("B", 10s); });
  s.b.holds("SET lock B NX PX 10000: OK, because A's lease has ended");
  std::this_thread::sleep_for(100ms);
  second.command({"SET", report_key, "B"});
  s.data.note("SET report B, by B");
  std::this_thread::sleep_for(100ms);
  s.go_on_and_write();
  s.data.bad("SET report A, by A: OK");
  s.judge(p, server.command({"GET", report_key}).text,
          "A's older report has replaced B's, and no client got an error.", "");
}

// A checks its lease, and the pause comes between the check and the write.
void pause_unfenced(play& p) {
  redis_server server;
  paused_holder s(p, [&](const lines& parent) {
    const client mine = client::open(server.url());
    const lease held = mine.mutex(lock_name).acquire({.ttl = 400ms, .renew = renewal::manual});
    naive_redis own(server);
    if (held.held()) parent.send("held");
    parent.receive();
    own.command({"SET", report_key, "A"});
    parent.send(held.held() ? "held" : "lost");
  });
  const client second = client::open(server.url());
  s.hold_and_stop("acquire(), ttl 400 ms: granted. held() is true, so A will write");
  s.b.waits("acquire(): busy, waits");
  const lease next = second.mutex(lock_name).acquire();
  s.b.holds("granted, because A's lease has ended");
  std::this_thread::sleep_for(100ms);
  server.command({"SET", report_key, "B"});
  s.data.note("SET report B, by B");
  std::this_thread::sleep_for(100ms);
  const std::string status = s.go_on_and_write();
  s.data.bad("SET report A, by A: OK");
  s.a.ends("now held() is false: too late", tone::bad);
  require(status == "lost", "A knows after the write");
  s.judge(p, server.command({"GET", report_key}).text,
          "A's check was true when A made it. No lock, holdfast included, can stop a write after "
          "the check.",
          "");
}

void pause_fenced(play& p) {
  redis_server server;
  paused_holder s(p, [&](const lines& parent) {
    const client mine = client::open(server.url());
    const lease held = mine.mutex(lock_name).acquire({.ttl = 400ms, .renew = renewal::manual});
    redis_guard guard(mine, report_key);
    if (held.held()) parent.send("held");
    parent.receive();
    parent.send(guard.write(held, "A") ? "written" : "refused");
  });
  const client second = client::open(server.url());
  redis_guard guard(second, report_key);
  s.hold_and_stop("acquire(), ttl 400 ms: granted. held() is true, so A will write");
  s.b.waits("acquire(): busy, waits");
  const lease next = second.mutex(lock_name).acquire();
  s.b.holds("granted with a greater token");
  std::this_thread::sleep_for(100ms);
  require(guard.write(next, "B"), "B writes");
  s.data.note("B's write with its token: stored");
  std::this_thread::sleep_for(100ms);
  const std::string status = s.go_on_and_write();
  s.data.good("A's write with its smaller token: " + status);
  s.a.ends("its write was refused");
  require(status == "refused" || status == "written", "A has tried");
  s.judge(p, server.command({"GET", report_key}).text, "A's write was accepted.",
          "A acted as the holder beside B, but the data refused its token.");
}

// The write is on its way when the lease ends.
void late_naive(play& p) {
  redis_server server;
  tcp_proxy proxy(server.port());
  naive_redis first(server), second(server);
  testkit::redis_link writer("127.0.0.1", proxy.port());
  actor a(p.line, "client A"), b(p.line, "client B"), data(p.line, "the report");
  require(first.set_nx_px("A", 400ms), "A gets the lock");
  a.holds("SET lock A NX PX 400: OK");
  std::this_thread::sleep_for(100ms);
  proxy.set(direction::to_server, {.hold = true});
  writer.send({"SET", report_key, "A"});
  a.note("sends SET report A; the network delays it");
  b.waits("SET lock B NX: busy, repeated each 2 ms");
  wait_until("B gets the lock", [&] { return second.set_nx_px("B", 10s); });
  a.ends("its lease has ended. A cannot take back what it has sent");
  b.holds("SET lock B NX PX 10000: OK, because A's lease has ended");
  std::this_thread::sleep_for(100ms);
  second.command({"SET", report_key, "B"});
  data.note("SET report B, by B: OK");
  std::this_thread::sleep_for(100ms);
  proxy.set(direction::to_server, {});
  require(!writer.receive().is_error(), "A's write arrives");
  const std::string stored = server.command({"GET", report_key}).text;
  data.bad("SET report A, by A, arrives: OK. The report is \"" + stored + '"');
  std::this_thread::sleep_for(100ms);
  p.ends(stored == "A", "A's older report has replaced B's, although only one client held the lock "
                        "at each moment. No client got an error.");
}

// The same events under holdfast.
void late_request(play& p, bool is_fenced) {
  redis_server server;
  tcp_proxy proxy(server.port());
  const client first = client::open(server.url()), second = client::open(server.url()),
               writer = client::open(proxy.url() + "?op-timeout=20s");
  testkit::redis_link plain("127.0.0.1", proxy.port());
  redis_guard guard(second, report_key), slow_guard(writer, report_key);
  actor a(p.line, "client A"), b(p.line, "client B"), data(p.line, "the report");
  lease held = first.mutex(lock_name).acquire({.ttl = 400ms, .renew = renewal::manual});
  a.holds("acquire(), ttl 400 ms: granted");
  std::this_thread::sleep_for(100ms);
  proxy.set(direction::to_server, {.hold = true});
  bool is_stored = true;
  if (!is_fenced) plain.send({"SET", report_key, "A"});
  std::jthread writes([&] {
    if (is_fenced) is_stored = slow_guard.write(held.token(), held.owner(), "A");
  });
  a.note("sends its write; the network delays it");
  wait_until("A's lease ends", [&] { return !held.held(); });
  a.ends("its lease has ended. A cannot take back what it has sent");
  const lease next = second.mutex(lock_name).acquire();
  b.holds("granted");
  std::this_thread::sleep_for(100ms);
  if (is_fenced) {
    require(guard.write(next, "B"), "B writes");
  } else {
    server.command({"SET", report_key, "B"});
  }
  data.note("B's write: stored");
  std::this_thread::sleep_for(100ms);
  proxy.set(direction::to_server, {});
  writes.join();
  if (!is_fenced) plain.receive();
  const std::string stored = server.command({"GET", report_key}).text;
  if (is_stored) data.bad("A's write arrives: stored. The report is \"" + stored + '"');
  if (!is_stored) data.good("A's write arrives: refused. The report is \"" + stored + '"');
  std::this_thread::sleep_for(100ms);
  p.ends(stored != "B", is_fenced
                            ? "the late write carries A's token, which is smaller than the one "
                              "that the data have seen."
                            : "the write of A has replaced B's, although A checked its lease "
                              "and stopped in time.");
}

void late_unfenced(play& p) { late_request(p, false); }
void late_fenced(play& p) { late_request(p, true); }

}  // namespace

std::vector<story> redis_pause_stories() {
  return {
      {"long-pause",
       "A long pause, and the stale write after it",
       "A holds the lock and is stopped just before its write: a garbage collection, a suspended "
       "virtual machine, a page fault on a slow disk. Its lease ends meanwhile, and B gets the "
       "lock.",
       "Between the last check and the write any time may pass. Only the data can refuse the "
       "write: each grant has a greater token, each write carries one, and the data accept none "
       "that is smaller than one before (a fencing token).",
       server::redis,
       {{"SET NX PX", verdict::breaks, pause_naive},
        {"holdfast, without a token", verdict::breaks, pause_unfenced},
        {"holdfast, with a fencing token", verdict::fence_stands, pause_fenced}}},
      {"late-request",
       "A write that is already on its way",
       "A sends its write while it holds the lock, and the network delays it. The lease of A "
       "ends, and A stops, as it should.",
       "A client cannot take back a request. The data must recognize it as late.",
       server::redis,
       {{"SET NX PX", verdict::breaks, late_naive},
        {"holdfast, without a token", verdict::breaks, late_unfenced},
        {"holdfast, with a fencing token", verdict::fence_stands, late_fenced}}},
  };
}

}  // namespace holdfast::lab
