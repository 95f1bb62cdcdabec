// Ids that only grow, for all machines together.
//
//   increasing_id [URL]      where the locks are; without it, in a directory of this machine
//
// Each grant of a lock has a fencing token: a number above those of all earlier grants, also after
// crashes and restarts. So the token is an id already, with gaps. Where ids must be 1, 2, 3 ...,
// the lock guards a counter, and the token guards it against a holder that comes too late.
#include <holdfast/holdfast.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace hf = holdfast;
using namespace std::chrono_literals;

constexpr int machines = 4, ids_each = 25;

std::int64_t next_id(const hf::mutex& lock) {
  const hf::lease lease = lock.acquire();
  return lease.token();
}

// Stands for a file or a row that keeps the last number. A holder presents its token when it reads
// and when it writes, so no earlier holder can write between the two.
class counter {
 public:
  std::optional<std::int64_t> last(const hf::lease& by) {
    const std::lock_guard guard(mutex_);
    if (!guard_.admit(by)) return std::nullopt;
    return last_;
  }
  bool advance(std::int64_t to, const hf::lease& by) {
    const std::lock_guard guard(mutex_);
    if (!guard_.admit(by)) return false;
    last_ = to;
    return true;
  }

 private:
  std::mutex mutex_;
  std::int64_t last_ = 0;
  hf::fencing_guard guard_;
};

std::int64_t next_number(const hf::mutex& lock, counter& c) {
  for (;;) {
    const hf::lease lease = lock.acquire();
    const std::optional<std::int64_t> last = c.last(lease);
    std::this_thread::sleep_for(100us);  // the disk is slow
    if (last && c.advance(*last + 1, lease)) return *last + 1;
    // Refused: this lease was lost, and a later holder has read or written. Retry with a new lease.
  }
}

class inspector {  // finds what a test would find
 public:
  void saw(std::int64_t id) {
    const std::lock_guard guard(mutex_);
    seen_.push_back(id);
  }
  bool all_different() {
    std::sort(seen_.begin(), seen_.end());
    return std::adjacent_find(seen_.begin(), seen_.end()) == seen_.end();
  }
  std::int64_t highest() const { return seen_.back(); }

 private:
  std::mutex mutex_;
  std::vector<std::int64_t> seen_;
};

int main(int argc, char** argv) try {
  const std::string url = argc > 1 ? argv[1] : "file:";
  counter shared_counter;
  inspector ids, numbers;
  std::atomic<bool> all_grew = true;
  std::vector<std::jthread> all;
  for (int i = 0; i < machines; ++i)
    all.emplace_back([&] {
      const auto client = hf::client::open(url);
      const auto for_ids = client.mutex("orders/id"), for_numbers = client.mutex("orders/number");
      std::int64_t before = 0;
      for (int k = 0; k < ids_each; ++k) {
        const std::int64_t id = next_id(for_ids);
        if (id <= before) all_grew = false;
        ids.saw(before = id);
        numbers.saw(next_number(for_numbers, shared_counter));
      }
    });
  all.clear();  // joins
  const bool unique = ids.all_different() && numbers.all_different();
  std::printf("the last id is %lld, the last number %lld\n", static_cast<long long>(ids.highest()),
              static_cast<long long>(numbers.highest()));
  return unique && all_grew && numbers.highest() == machines * ids_each ? 0 : 1;
} catch (const std::exception& e) {
  std::fprintf(stderr, "increasing_id: %s\n", e.what());
  return 1;
}
