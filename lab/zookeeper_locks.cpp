// ZooKeeper: a herd of waiters, and a session that times out while its client is stopped.
#include <holdfast/holdfast.hpp>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <deque>
#include <thread>

#include "lab/naive_zookeeper.hpp"
#include "lab/story.hpp"
#include "lab/worker_process.hpp"
#include "lab/zookeeper.hpp"
#include "testkit/servers/scratch_folder.hpp"

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

// The number after a word in a report of the server.
long number_after(const std::string& report, const std::string& word) {
  const std::size_t at = report.find(word);
  return at == std::string::npos ? 0 : std::atol(report.c_str() + at + word.size());
}

long watches() { return number_after(shared_zookeeper().ask("wchs"), "Total watches:"); }

// The packets that the server counts from the construction on. The server counts each of its
// reports too, so a play asks for one at the beginning and one at the end.
class load_of_release {
 public:
  // Adds the event with the counts. Returns the packets received.
  long note(actor& server) const {
    const std::string now = shared_zookeeper().ask("srvr");
    const long received = number_after(now, received_word) - received_before_;
    const std::string counts =
        "since the release: " + std::to_string(received) + " requests received, " +
        std::to_string(number_after(now, sent_word) - sent_before_) + " messages sent";
    if (received >= requests_of_herd)
      server.bad(counts);
    else
      server.good(counts);
    return received;
  }

 private:
  static constexpr const char *received_word = "Received: ", *sent_word = "Sent: ";
  const std::string before_ = shared_zookeeper().ask("srvr");
  const long received_before_ = number_after(before_, received_word),
             sent_before_ = number_after(before_, sent_word);
};

// A client that waits for the naive lock: a node that each waiter watches and tries to create.
struct naive_waiter {
  naive_waiter(play& p, const std::string& node, long number)
      : session(shared_zookeeper().port(), 5min),
        lane(p.line, "waiter " + std::to_string(number)),
        thread([this, node](const std::stop_token& stop) { wait_for(node, stop); }) {}

  // The end of the session's connection ends the thread, and then it has no lock. If the server has
  // closed it, the story waits in vain for the watch or the grant, and fails.
  void wait_for(const std::string& node, const std::stop_token& stop) {
    const std::stop_callback ends(stop, [this] { session.hang_up(); });
    try {
      while (!session.create_ephemeral(node)) {
        if (!session.watch(node)) continue;
        ++watches_set;
        session.wait_for_event();
      }
      lane.holds("create /lock, ephemeral: OK");
      is_granted = true;
    } catch (const story_error&) {
      is_granted = false;
    }
  }

  naive_zookeeper session;
  actor lane;
  std::atomic<long> watches_set{0};
  std::atomic<bool> is_granted{false};
  std::jthread thread;
};

void herd_of_one_node(play& p) {
  const std::string node = "/" + fresh_name();
  const long watches_before = watches();
  naive_zookeeper first(shared_zookeeper().port(), 5min);
  actor holder(p.line, "holder"), server(p.line, "server");
  require(first.create_ephemeral(node), "the holder gets the lock");
  holder.holds("create /lock, ephemeral: OK");
  std::deque<naive_waiter> herd;
  for (long i = 1; i <= herd_size; ++i) {
    naive_waiter& w = herd.emplace_back(p, node, i);
    w.lane.waits(i == 1 ? "create /lock: node exists. Watches it, as all others from here on"
                        : "waits");
    wait_until("the waiter watches", [&] { return w.watches_set == 1; });
  }
  server.note("has " + std::to_string(watches()) + " watches");
  std::this_thread::sleep_for(200ms);
  const load_of_release load;
  holder.ends("delete /lock: the server sends an event to each waiter");
  first.remove(node);
  wait_until("one waiter has the lock, and the others watch its node", [&] {
    const auto has_lock = [](const naive_waiter& w) { return w.is_granted.load(); };
    const auto has_tried = [](const naive_waiter& w) { return w.is_granted || w.watches_set == 2; };
    return std::ranges::all_of(herd, has_tried) && std::ranges::any_of(herd, has_lock);
  });
  const long requests = load.note(server);
  std::this_thread::sleep_for(200ms);
  p.ends(requests >= requests_of_herd,
         "one release makes each of the " + std::to_string(herd_size) +
             " waiters try again, and all but one in vain. With n waiters, n releases cost n*n "
             "requests.");
  herd.clear();
  // The next play counts watches.
  wait_until("the server has removed the watches", [&] { return watches() <= watches_before; });
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

void herd_with_holdfast(play& p) {
  const std::string url = url_with("session-timeout=300s"), lock = fresh_name();
  const client first = client::open(url);
  actor holder(p.line, "holder"), server(p.line, "server");
  lease own = first.mutex(lock).acquire();
  holder.holds("acquire(): granted");
  std::deque<waiter> herd;
  for (long i = 1; i <= herd_size; ++i) {
    const long before = watches();
    waiter& w = herd.emplace_back(p, url, lock, i);
    w.lane.waits(i == 1 ? "acquire(): busy, waits, as all others from here on" : "waits");
    wait_until("the waiter watches", [&] { return watches() > before; });
  }
  server.note("has " + std::to_string(watches()) + " watches");
  std::this_thread::sleep_for(200ms);
  const load_of_release load;
  holder.ends("release()");
  own.release();
  wait_until("a waiter gets the lock", [&] {
    return std::ranges::any_of(herd, [](const waiter& w) { return w.is_granted.load(); });
  });
  std::this_thread::sleep_for(200ms);
  const long requests = load.note(server);
  std::this_thread::sleep_for(50ms);
  p.ends(requests >= requests_of_herd,
         "each waiter watches the nodes just before its own, so a release wakes the next waiter, "
         "however many wait.");
  for (waiter& w : herd) w.thread.request_stop();
}

// A holder whose process is stopped for longer than its session lasts, and goes on. The report is a
// file, which is written without a check.
void session_naive(play& p) {
  const testkit::scratch_folder data_folder;
  const std::string node = "/" + fresh_name(), report = "report";
  const int port = shared_zookeeper().port();
  worker_process process([&](const lines& parent) {
    naive_zookeeper own(port, 1s);
    if (own.create_ephemeral(node)) parent.send("held");
    parent.receive();
    data_folder.write(report, "A");
    parent.send("written");
  });
  actor a(p.line, "client A"), b(p.line, "client B"), data(p.line, "the report");
  require(process.receive() == "held", "A gets the lock");
  naive_zookeeper second(port, 1min);
  a.holds("create /lock, ephemeral: OK. The session timeout is 1 s");
  std::this_thread::sleep_for(100ms);
  process.stop();
  a.stops("its process is stopped (SIGSTOP)");
  b.waits("create /lock: node exists, repeated each 20 ms");
  wait_until("B gets the lock", [&] {
    std::this_thread::sleep_for(20ms);
    return second.create_ephemeral(node);
  });
  b.holds("create /lock, ephemeral: OK. The server has ended A's session and removed its node");
  std::this_thread::sleep_for(100ms);
  data_folder.write(report, "B");
  data.note("B writes its report");
  std::this_thread::sleep_for(100ms);
  process.go_on();
  a.believes("goes on and writes; it does not know that its session has ended");
  require(process.ask("write") == "written", "A writes");
  const std::string stored = data_folder.read(report);
  data.bad("A writes its report: stored. The report is \"" + stored + '"');
  std::this_thread::sleep_for(100ms);
  p.ends(stored == "A" && second.exists(node),
         "the ephemeral node of A was removed while A could not notice it, and A's write replaced "
         "B's.");
}

// The same with clients of holdfast.
struct stopped_session {
  stopped_session(play& p, bool checks)
      : lock(fresh_name()),
        process([url = url_with("session-timeout=1s"), name = lock, checks](const lines& parent) {
          const client mine = client::open(url);
          const lease held = mine.mutex(name).acquire();
          parent.send("held");
          parent.receive();
          parent.send(checks && !held.held() ? "lost" : std::to_string(held.token()));
        }),
        a(p.line, "client A"),
        b(p.line, "client B"),
        data(p.line, "the report") {}

  // Returns A's token, or "lost".
  std::string pause() {
    require(process.receive() == "held", "A gets the lock");
    const client second = client::open(url_with("session-timeout=30s"));
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

  std::string lock;
  worker_process process;
  actor a, b, data;
  fencing_guard fence;
  lease next;
};

void session_checked(play& p) {
  stopped_session s(p, true);
  const std::string token = s.pause();
  s.a.ends("goes on. held() is false: A's clock shows that its session may have ended", tone::good);
  std::this_thread::sleep_for(100ms);
  p.ends(token != "lost" || !s.next.held(),
         "held() reads the clock at each call, so A knows without "
         "a reply of the server, and does not write.");
}

void session_fenced(play& p) {
  stopped_session s(p, false);
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
       {{"one ephemeral node, which all waiters watch", verdict::breaks, herd_of_one_node},
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
