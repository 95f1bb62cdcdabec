// Leader election: of several candidates one leads, and a deposed leader stops.
//
//   leader [URL]      where the locks are; without it, in a directory of this machine
//
// An operator deposes each leader here, as `holdfast break` does, and an observer prints leaders.
#include <holdfast/holdfast.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <exception>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace hf = holdfast;
using namespace std::chrono_literals;

constexpr int candidates = 3, changes = 3;

// The resource of the leader. A deposed leader may not know yet that it is deposed: the guard
// refuses its writes from the first write of its successor on.
struct shared_state {
  hf::fencing_guard guard;
  std::atomic<int> terms = 0, ended_terms = 0, refused_writes = 0, observed_leaders = 0;
};

void sleep_unless(const std::stop_token& stop, std::chrono::milliseconds d) {
  std::mutex mutex;
  std::unique_lock lock(mutex);
  std::condition_variable_any never;
  never.wait_for(lock, stop, d, [] { return false; });
}

// Writes until the term ends. In doubt, no renewal was confirmed in time: the leader starts no new
// write, and goes on when a renewal is confirmed. A file lock is not lost while its process lives,
// so there a leader steps down after some writes.
void lead(shared_state& state, const hf::election& office, bool steps_down,
          const std::stop_token& stop) {
  const hf::lease& term = office.term();
  ++state.terms;
  for (int writes = 0; office.is_leader() && !stop.stop_requested(); ++writes) {
    if (!term.in_doubt() && !state.guard.admit(term)) ++state.refused_writes;
    if (steps_down && writes == 20) break;
    sleep_unless(term.loss_token(), 5ms);
  }
  ++state.ended_terms;
}

void be_candidate(const std::string& url, int number, shared_state& state,
                  const std::stop_token& stop) try {
  const auto client = hf::client::open(url);
  // The ttl is how long nobody leads, at most, after a leader has crashed.
  hf::election office(client, "leader", {.ttl = 1s});
  const std::string address = "10.0.0." + std::to_string(number) + ":8080";
  while (!stop.stop_requested()) {
    if (!office.try_campaign_for(1h, address, stop)) continue;  // an hour passed, or it was stopped
    lead(state, office, !client.features().breakable, stop);
    std::error_code deposed;  // errc::lost, if it no longer led
    office.resign(deposed);
  }
} catch (const std::exception& e) {
  std::fprintf(stderr, "leader: %s\n", e.what());
}

void observe(const std::string& url, shared_state& state, const std::stop_token& stop) try {
  const hf::election office(hf::client::open(url), "leader");
  office.observe(
      [&](const std::optional<hf::holder>& leader) {
        if (!leader) return;  // nobody leads now
        ++state.observed_leaders;
        // Not every layout stores the value, and with redis: it may follow the grant.
        const std::string& shown = leader->note.empty() ? leader->owner : leader->note;
        std::printf("leader: %s\n", shown.c_str());
      },
      stop, 10ms);
} catch (const std::exception& e) {
  std::fprintf(stderr, "leader: %s\n", e.what());
}

bool becomes_true(const auto& condition) {
  for (int i = 0; i < 3'000 && !condition(); ++i) std::this_thread::sleep_for(10ms);
  return condition();
}

// Returns true when each leader that was deposed has stopped and another one leads.
bool depose_leaders(const std::string& url, shared_state& state) {
  const auto operators = hf::client::open(url);
  const hf::election office(operators, "leader");
  for (int change = 1; change <= changes; ++change) {
    if (!becomes_true([&] { return state.terms >= change; })) return false;
    if (operators.features().breakable)
      if (const auto leader = office.observe())
        operators.break_lock(leader->name, leader->owner);  // this holder and no other
    const auto is_replaced = [&] { return state.terms > change && state.ended_terms >= change; };
    if (!becomes_true(is_replaced)) return false;
  }
  return becomes_true([&] { return state.observed_leaders > 0; });
}

int main(int argc, char** argv) try {
  const std::string url = argc > 1 ? argv[1] : "file:";
  shared_state state;
  bool all_stopped = false;
  {
    std::vector<std::jthread> all;  // the end of the scope requests their stop and joins them
    for (int i = 1; i <= candidates; ++i)
      all.emplace_back([&, i](const std::stop_token& stop) { be_candidate(url, i, state, stop); });
    all.emplace_back([&](const std::stop_token& stop) { observe(url, state, stop); });
    all_stopped = depose_leaders(url, state);
  }
  std::printf("%d terms, %d ended, %d writes of deposed leaders were refused\n", state.terms.load(),
              state.ended_terms.load(), state.refused_writes.load());
  return all_stopped ? 0 : 1;
} catch (const std::exception& e) {
  std::fprintf(stderr, "leader: %s\n", e.what());
  return 1;
}
