// ZooKeeper: a herd of waiters, and a session that times out while its client is stopped.
#include <holdfast/holdfast.hpp>

#include <algorithm>
#include <atomic>
#include <deque>
#include <thread>

#include "lab/story.hpp"
#include "lab/worker_process.hpp"
#include "lab/zookeeper.hpp"

namespace holdfast::lab {

testkit::zookeeper_server& shared_zookeeper() {
  static testkit::zookeeper_server one({.config = {"maxSessionTimeout=600000"}});
  return one;
}
std::string fresh_name() {
  static int plays = 0;
  return "lock" + std::to_string(++plays);
}

namespace {

using namespace std::chrono_literals;

constexpr long herd_size = 8;
// Of one release, if each waiter tries to create the node and watches it again.
constexpr long requests_of_herd = 2 * herd_size;

std::string url_with(const std::string& options) {
  return shared_zookeeper().url() + '?' + options;
}

// The number after a word in the server's reports.
long reported(const std::string& command, const std::string& word) {
  const std::string text = shared_zookeeper().ask(command);
  const std::size_t at = text.find(word);
  return at == std::string::npos ? 0 : std::atol(text.c_str() + at + word.size());
}

struct waiter {
  waiter(play& p, const std::string& url, const std::string& lock, long number)
      : connection(client::open(url)),
        lane(p.line, "waiter " + std::to_string(number)),
        thread([this, lock](const std::stop_token& stop) {
          std::error_code ended;
          held = connection.mutex(lock).acquire({}, stop, ended);
          if (!held) return;
          lane.holds("granted");
          is_granted = true;
        }) {}

  client connection;
  actor lane;
  lease held;
  std::atomic<bool> is_granted{false};
  std::jthread thread;
};

// A holder releases a lock for which `herd_size` clients wait. Returns how many requests the server
// has received because of it.
long release_before_a_herd(play& p, const std::string& layout, long expected_requests) {
  const std::string url = url_with("session-timeout=300s&" + layout), lock = fresh_name();
  const client first = client::open(url);
  actor holder(p.line, "holder"), server(p.line, "server");
  lease own = first.mutex(lock).acquire();
  holder.holds("acquire(): granted");
  std::deque<waiter> herd;
  const auto watches = [] { return reported("wchs", "Total watches:"); };
  for (long i = 1; i <= herd_size; ++i) {
    const long before = watches();
    waiter& w = herd.emplace_back(p, url, lock, i);
    if (i == 1)
      w.lane.waits("acquire(): busy, waits, as all others from here on");
    else
      w.lane.waits("waits");
    wait_until("the waiter watches", [&] { return watches() > before; });
  }
  server.note("has " + std::to_string(watches()) + " watches");
  std::this_thread::sleep_for(200ms);
  const long received = reported("srvr", "Received: "), sent = reported("srvr", "Sent: ");
  holder.ends("release()");
  own.release();
  wait_until("a waiter gets the lock", [&] {
    return std::any_of(herd.begin(), herd.end(),
                       [](const waiter& w) { return w.is_granted.load(); });
  });
  const auto requests_since = [&] { return reported("srvr", "Received: ") - received; };
  wait_until("the requests arrive", [&] { return requests_since() >= expected_requests; });
  std::this_thread::sleep_for(200ms);
  const long requests = requests_since();
  const long messages = reported("srvr", "Sent: ") - sent;
  const std::string counts = "since the release: " + std::to_string(requests) +
                             " requests received, " + std::to_string(messages) + " messages sent";
  if (requests >= requests_of_herd)
    server.bad(counts);
  else
    server.good(counts);
  std::this_thread::sleep_for(50ms);
  p.line.finish();
  for (waiter& w : herd) w.thread.request_stop();
  return requests;
}

void herd_of_one_node(play& p) {
  const long requests = release_before_a_herd(p, "layout=node&unsafe=1", requests_of_herd);
  p.ends(requests >= requests_of_herd,
         "one release makes each of the " + std::to_string(herd_size) +
             " waiters try again, and all but one in vain. With n waiters, n releases cost n*n "
             "requests.");
}

void herd_with_holdfast(play& p) {
  const long requests = release_before_a_herd(p, "", 1);
  p.ends(requests >= requests_of_herd,
         "each waiter watches the nodes just before its own, so a release wakes the next waiter, "
         "however many wait.");
}

// A holder whose process is stopped for longer than its session lasts, and goes on.
struct stopped_session {
  stopped_session(play& p, const std::string& layout_of_lock, bool checks)
      : layout(layout_of_lock),
        lock(fresh_name()),
        process([url = url_with("session-timeout=1s&" + layout), name = lock,
                 checks](const lines& parent) {
          const client mine = client::open(url);
          const lease held = mine.mutex(name).acquire();
          parent.send("held");
          parent.receive();
          // The naive holder does not look again.
          parent.send(checks && !held.held() ? "lost" : std::to_string(held.token()));
        }),
        a(p.line, "client A"),
        b(p.line, "client B"),
        data(p.line, "the report") {}

  // Returns A's token, or "lost".
  std::string pause() {
    require(process.receive() == "held", "A gets the lock");
    const client second = client::open(url_with("session-timeout=30s&" + layout));
    a.holds("acquire(): granted. The session timeout is 1 s");
    std::this_thread::sleep_for(100ms);
    process.stop();
    a.stops("its process is stopped (SIGSTOP)");
    b.waits("acquire(): busy, waits");
    next = second.mutex(lock).acquire();
    b.holds("granted: the server has ended A's session and removed its node");
    std::this_thread::sleep_for(100ms);
    require(fence.admit(next), "B writes");
    data.note("B writes with its token");
    std::this_thread::sleep_for(100ms);
    process.go_on();
    return process.ask("write");
  }

  std::string layout, lock;
  worker_process process;
  actor a, b, data;
  fencing_guard fence;
  lease next;
};

void session_naive(play& p) {
  stopped_session s(p, "layout=node&unsafe=1", false);
  const std::string token = s.pause();
  s.a.believes("goes on and writes; it does not know that its session has ended");
  s.data.bad("A writes, without a token: stored. B's report is lost");
  std::this_thread::sleep_for(100ms);
  p.ends(token != "lost" && s.next.held(), "the ephemeral node of A was removed while A could not "
                                           "notice it, and A's write replaced B's.");
}

void session_checked(play& p) {
  stopped_session s(p, "", true);
  const std::string token = s.pause();
  s.a.ends("goes on. held() is false: A's clock shows that its session may have ended", tone::good);
  std::this_thread::sleep_for(100ms);
  p.ends(token != "lost" || !s.next.held(),
         "held() reads the clock at each call, so A knows without "
         "a reply of the server, and does not write.");
}

void session_fenced(play& p) {
  stopped_session s(p, "", false);
  const std::string token = s.pause();
  s.a.believes("goes on and writes; the pause was between its check and its write");
  const bool is_stored = s.fence.admit(std::stoll(token), "A");
  if (!is_stored) s.data.good("A's write with its smaller token: refused");
  std::this_thread::sleep_for(100ms);
  p.ends(is_stored, "a check before the write cannot help here; the token does.");
}

}  // namespace

std::vector<story> zookeeper_stories() {
  return {
      {"herd",
       "A herd of waiters",
       "Many clients wait for one lock. The naive lock is one ephemeral node: each waiter watches "
       "it, and creates it again when it is gone.",
       "With ephemeral sequential nodes the waiters form a queue, and each watches its "
       "predecessors instead of the holder.",
       server::zookeeper,
       {{"one ephemeral node (holdfast's layout node, demonstration only)", verdict::breaks,
         herd_of_one_node},
        {"holdfast: ephemeral sequential nodes, as Curator has them", verdict::stands,
         herd_with_holdfast}}},
      {"session-timeout",
       "A session times out while its client is stopped",
       "A lock in ZooKeeper lives as long as its client's session. The client is stopped for "
       "longer than the session timeout, and goes on.",
       "The server ends the session without the client. holdfast derives from its own clock until "
       "when the session certainly lasts; for the rest there is the fence (zookeeper_guard for "
       "data in ZooKeeper).",
       server::zookeeper,
       {{"an ephemeral node, without a check", verdict::breaks, session_naive},
        {"holdfast, held() before the write", verdict::stands, session_checked},
        {"holdfast, with a fencing token", verdict::fence_stands, session_fenced}}},
  };
}

}  // namespace holdfast::lab
