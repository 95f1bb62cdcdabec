// The snippets of README.md as they stand there, with what a program around them would have.
//
//   readme_snippets [URL]
#include <holdfast/holdfast.hpp>

#include <chrono>
#include <cstdio>
#include <exception>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <stop_token>
#include <string>

namespace hf = holdfast;

namespace {

int worked = 0;
void work() { ++worked; }
void run_nightly_job() { work(); }
void take_payment() { work(); }
void lead(const std::stop_token& lost) { worked += lost.stop_requested() ? 0 : 1; }

struct stock_of_items {
  std::optional<int> read(const hf::lease& by) {
    if (!guard.admit(by)) return std::nullopt;
    return left;
  }
  bool write(int now, const hf::lease& by) {
    if (!guard.admit(by)) return false;
    left = now;
    return true;
  }
  int left = 1;
  hf::fencing_guard guard;
};

// Compiled and not run: its URL names a server that the tests do not start.
[[maybe_unused]] void run_first_example() {
#include "first.inc"
}

bool acquire(const hf::client& client) {
  const hf::mutex mutex = client.mutex("nightly");
#include "verbs.inc"
  return !lease && worked == 2;
}

bool hold_together(const hf::client& client) {
  hf::shared_mutex catalogue = client.shared_mutex("catalogue");
  const hf::semaphore pool = client.semaphore("pool", 8);
  using namespace std::chrono_literals;
#include "kinds.inc"
  return reading.owns_lock() && two.held() && both.members()[0].token() != 0;
}

bool sell(const hf::mutex& lock, stock_of_items& stock) {
#include "sale.inc"
}

void campaign(const hf::mutex& office) {
  using namespace std::chrono_literals;
#include "leader.inc"
}

int tried(const std::string& url) {
  const auto client = hf::client::open(url);
  if (!acquire(client)) return 2;
  if (!hold_together(client)) return 3;
  stock_of_items stock;
  if (!sell(client.mutex("sale"), stock) || sell(client.mutex("sale"), stock)) return 4;
  campaign(client.mutex("leader"));
  return worked == 4 ? 0 : 5;
}

}  // namespace

int main(int argc, char** argv) try {
  return tried(argc > 1 ? argv[1] : "file:");
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
