// Redis: many threads of one process wait for one lock.
#include <sys/types.h>
#include <unistd.h>
#include <holdfast/holdfast.hpp>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "lab/naive_redis.hpp"
#include "lab/story.hpp"
#include "testkit/asleep.hpp"

namespace holdfast::lab {

namespace {

using namespace std::chrono_literals;
using testkit::redis_server;

constexpr long herd_threads = 8;
// If each release makes every thread that still waits send an attempt: 8 + 7 + ... + 1.
constexpr long attempts_of_herd = herd_threads * (herd_threads + 1) / 2;
constexpr auto turn_of_thread = 20ms;

// A thread that waits for the lock and ends with the grant. The story releases the lock.
struct herd_thread {
  herd_thread(play& p, long number_of_thread,
              const std::function<bool(const std::stop_token&)>& acquire)
      : number(number_of_thread),
        lane(p.line, "thread " + std::to_string(number_of_thread)),
        thread([this, acquire](const std::stop_token& stop) {
          id = ::gettid();
          if (!acquire(stop)) return;
          lane.holds("granted");
          is_granted = true;
        }) {}

  const long number;
  actor lane;
  bool was_seen = false;  // by next_holder()
  std::atomic<pid_t> id{0};
  std::atomic<bool> is_granted{false};
  std::jthread thread;
};

// Waits until a thread has the lock that next_holder() has not returned before.
herd_thread& next_holder(std::deque<herd_thread>& herd) {
  herd_thread* found = nullptr;
  wait_until("a thread gets the lock", [&] {
    for (herd_thread& t : herd)
      if (t.is_granted && !t.was_seen) found = &t;
    return found != nullptr;
  });
  found->was_seen = true;
  return *found;
}

// The connections and commands that a server counts; the connection of this object is left out.
class load_of_herd {
 public:
  explicit load_of_herd(redis_server& of) : server_(of), before_(total_commands()) {}
  // Since the construction, without the request for the number.
  long commands() { return total_commands() - before_ - 1; }
  long connections() { return std::stol(server_.info("connected_clients")) - 1; }

 private:
  long total_commands() { return std::stol(server_.info("total_commands_processed")); }

  redis_server& server_;
  const long before_;
};

// Adds the event with the counts. Returns the commands.
long note_load(actor& counts, load_of_herd& load) {
  const long commands = load.commands();
  const std::string text = "since the first release: " + std::to_string(commands) +
                           " commands for " + std::to_string(herd_threads) + " hand-offs, over " +
                           std::to_string(load.connections()) + " connections of the process";
  if (commands >= attempts_of_herd)
    counts.bad(text);
  else
    counts.good(text);
  return commands;
}

// The waiting threads of a process, which one condition variable wakes.
class threads_woken_together {
 public:
  // Tries at once, and again after each release. False: stop was requested.
  bool acquire(naive_redis& own, const std::string& owner, const std::stop_token& stop) {
    std::unique_lock guard(mutex_);
    while (!stop.stop_requested()) {
      const long seen = releases_;
      guard.unlock();
      const bool is_granted = own.set_nx_px(owner, 10min);
      guard.lock();
      if (is_granted) return true;
      ++refused_;
      released_.wait(guard, stop, [&] { return releases_ != seen; });
    }
    return false;
  }
  void release(naive_redis& by) {
    by.del();
    {
      const std::lock_guard guard(mutex_);
      ++releases_;
    }
    released_.notify_all();
  }
  long refused() {
    const std::lock_guard guard(mutex_);
    return refused_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable_any released_;
  long releases_ = 0, refused_ = 0;
};

void all_threads_woken(play& p) {
  redis_server server;
  naive_redis first(server);
  std::deque<naive_redis> connections;
  threads_woken_together waiting;
  actor holder(p.line, "thread 0"), counts(p.line, "server");
  require(first.set_nx_px("0", 10min), "thread 0 gets the lock");
  holder.holds("SET lock 0 NX: OK");
  std::deque<herd_thread> herd;
  for (long i = 1; i <= herd_threads; ++i) {
    naive_redis& own = connections.emplace_back(server);
    const auto acquire = [&waiting, &own, i](const std::stop_token& stop) {
      return waiting.acquire(own, std::to_string(i), stop);
    };
    herd_thread& t = herd.emplace_back(p, i, acquire);
    t.lane.waits(i == 1 ? "SET lock 1 NX: nil. Waits for the condition variable, as all others do"
                        : "waits");
  }
  long refused = herd_threads;
  wait_until("all threads wait", [&] { return waiting.refused() >= refused; });
  std::this_thread::sleep_for(turn_of_thread);
  load_of_herd load(server);
  holder.ends("DEL lock, then notify_all(): each waiting thread sends SET NX");
  waiting.release(first);
  for (long turn = 1; turn <= herd_threads; ++turn) {
    herd_thread& next = next_holder(herd);
    refused += herd_threads - turn;
    wait_until("the other threads have tried", [&] { return waiting.refused() >= refused; });
    std::this_thread::sleep_for(turn_of_thread);
    if (turn == herd_threads) break;
    next.lane.end_turn();
    waiting.release(connections[static_cast<std::size_t>(next.number - 1)]);
  }
  const long commands = note_load(counts, load);
  p.ends(commands >= attempts_of_herd,
         "a release wakes all threads, and each of them but one sends its command in vain. With n "
         "threads, n releases cost n*n/2 commands, and each thread needs a connection.");
}

void one_thread_notified(play& p) {
  redis_server server;
  const client mine = client::open(server.url() + "?ttl=10m");
  std::vector<lease> leases(static_cast<std::size_t>(herd_threads));
  actor holder(p.line, "thread 0"), counts(p.line, "server");
  lease own = mine.mutex(lock_name).acquire();
  holder.holds("acquire(): granted");
  std::deque<herd_thread> herd;
  for (long i = 1; i <= herd_threads; ++i) {
    lease& held = leases[static_cast<std::size_t>(i - 1)];
    const auto acquire = [&mine, &held](const std::stop_token& stop) {
      std::error_code ended;
      held = mine.mutex(lock_name).acquire({}, stop, ended);
      return bool(held);
    };
    herd_thread& t = herd.emplace_back(p, i, acquire);
    t.lane.waits(i == 1 ? "acquire(): in the queue of the client, as all others are" : "waits");
  }
  std::vector<pid_t> ids;
  for (herd_thread& t : herd) {
    wait_until("the thread runs", [&] { return t.id != 0; });
    ids.push_back(t.id);
  }
  require(testkit::all_fall_asleep(ids), "all threads wait");
  load_of_herd load(server);
  holder.ends("release(): the client hands the lock over to the first thread of its queue");
  own.release();
  for (long turn = 1; turn <= herd_threads; ++turn) {
    herd_thread& next = next_holder(herd);
    std::this_thread::sleep_for(turn_of_thread);
    if (turn == herd_threads) break;
    next.lane.end_turn();
    leases[static_cast<std::size_t>(next.number - 1)].release();
  }
  const long commands = note_load(counts, load);
  p.ends(commands >= attempts_of_herd,
         "the threads of a client share one claim. A release wakes the next thread in the order of "
         "arrival, without a command to the server.");
}

}  // namespace

std::vector<story> redis_herd_stories() {
  return {
      {"herd-in-process",
       "A herd of threads in one process",
       "Many threads of one process wait for one lock. A release wakes all of them, and each sends "
       "an attempt to the server.",
       "A process needs one waiter at the server, however many of its threads wait. holdfast's "
       "client has one claim for all of them, and hands the lock over from thread to thread; when "
       "another client waits, it does so only for a limited time (turns and turn-time).",
       server::redis,
       {{"SET NX PX, and notify_all() at a release", verdict::breaks, all_threads_woken},
        {"holdfast, one client", verdict::stands, one_thread_notified}}},
  };
}

}  // namespace holdfast::lab
