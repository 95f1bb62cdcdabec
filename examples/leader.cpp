// A leader: of several candidates one leads, and steps down as soon as it has lost its lease.
//
//   leader [URL]      where the locks are; without it, in a directory of this machine
//
// Here an operator deposes each leader soon, as `holdfast break` does.
#include <holdfast/holdfast.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace hf = holdfast;
using namespace std::chrono_literals;

constexpr int candidates = 3, changes = 3;

// What the leader rules over. Who was deposed does not know it at once: the realm refuses his
// writes from the first write of his successor on.
struct realm {
  hf::fencing_guard guard;
  std::atomic<int> leaders = 0, stepped_down = 0, refused = 0;
};

void sleep_unless(const std::stop_token& ended, std::chrono::milliseconds d) {
  std::mutex mutex;
  std::unique_lock lock(mutex);
  std::condition_variable_any never;
  never.wait_for(lock, ended, d, [] { return false; });
}

// loss_token() is a std::stop_token, so that no thread has to poll. A lock in a file
// is never lost while its process lives; there a leader serves a term.
void lead(realm& r, const hf::lease& lease, bool serves_a_term, const std::stop_token& over) {
  ++r.leaders;
  for (int days = 0; !lease.loss_token().stop_requested() && !over.stop_requested(); ++days) {
    if (!r.guard.admit(lease)) ++r.refused;
    if (serves_a_term && days == 20) break;
    sleep_unless(lease.loss_token(), 5ms);
  }
  ++r.stepped_down;
}

void be_candidate(const std::string& url, realm& r, const std::stop_token& over) try {
  const auto client = hf::client::open(url);
  const auto office = client.mutex("leader");
  const hf::acquire_options terms{.ttl =
                                      1s,  // how long nobody leads, at most, when the leader dies
                                  .note = "leads"};
  while (!over.stop_requested()) {
    const hf::lease lease = office.try_acquire_for(1h, terms, over);  // empty when it was stopped
    if (lease) lead(r, lease, !client.features().breakable, over);
  }
} catch (const std::exception& e) {
  std::fprintf(stderr, "leader: %s\n", e.what());
}

bool comes_true(const auto& fact) {
  for (int i = 0; i < 3'000 && !fact(); ++i) std::this_thread::sleep_for(10ms);
  return fact();
}

// True when so many leaders have come, and each that was deposed has stepped down.
bool depose_leaders(const std::string& url, realm& r) {
  const auto operators = hf::client::open(url);
  for (int change = 1; change <= changes; ++change) {
    if (!comes_true([&] { return r.leaders >= change; })) return false;
    if (operators.features().breakable)
      for (const hf::holder& h : operators.holders("leader"))
        operators.break_lock(h.name, h.owner);  // this holder and no other
    if (!comes_true([&] { return r.leaders > change && r.stepped_down >= change; })) return false;
  }
  return true;
}

int main(int argc, char** argv) try {
  const std::string url = argc > 1 ? argv[1] : "file:";
  realm r;
  bool kept_their_word = false;
  {
    std::vector<std::jthread> all;  // which are asked to stop, and joined, at the end of the scope
    for (int i = 0; i < candidates; ++i)
      all.emplace_back([&](const std::stop_token& over) { be_candidate(url, r, over); });
    kept_their_word = depose_leaders(url, r);
  }
  std::printf("%d leaders, %d stepped down, %d writes of deposed ones were refused\n",
              r.leaders.load(), r.stepped_down.load(), r.refused.load());
  return kept_their_word ? 0 : 1;
} catch (const std::exception& e) {
  std::fprintf(stderr, "leader: %s\n", e.what());
  return 1;
}
