// A flash sale: many servers sell the last items of a stock, and must not sell one too many.
//
//   flash_sale [URL]      where the locks are; without it, in a directory of this machine
#include <holdfast/holdfast.hpp>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace hf = holdfast;
using namespace std::chrono_literals;

constexpr int items = 20, servers = 6, customers_each = 10;

// Stands for a database row that is read, looked at, and written back later: between the two,
// another server may have sold the same item.
class stock {
 public:
  int read() const {
    const std::lock_guard guard(mutex_);
    return left_;
  }
  void write(int left) {
    const std::lock_guard guard(mutex_);
    left_ = left;
  }

  // The same for holders of a lock; both are refused after a later holder has read or written. The
  // read presents the token too: without that, the late write of a server that stalled and lost its
  // lease could arrive between the next holder's read and write, and both would sell one item.
  std::optional<int> read(const hf::lease& by) {
    const std::lock_guard guard(mutex_);
    if (!guard_.admit(by)) return std::nullopt;
    return left_;
  }
  bool write(int left, const hf::lease& by) {
    const std::lock_guard guard(mutex_);
    if (!guard_.admit(by)) return false;
    left_ = left;
    return true;
  }

 private:
  mutable std::mutex mutex_;
  int left_ = items;
  hf::fencing_guard guard_;
};

bool sell_without_a_lock(stock& s) {
  const int left = s.read();
  if (left == 0) return false;
  std::this_thread::sleep_for(1ms);  // the customer pays
  s.write(left - 1);
  return true;
}

bool sell(stock& s, const hf::mutex& lock) {
  const hf::lease lease =
      lock.acquire({.note = "a sale"});  // waits its turn; given back at the end
  const std::optional<int> left = s.read(lease);
  if (!left || *left == 0) return false;
  std::this_thread::sleep_for(1ms);
  return s.write(*left - 1, lease);
}

// So many items were sold by all servers together. Each serves its customers in a thread of its
// own, with a client of its own, as it would on a machine of its own.
template <class Sell>
int hold_a_sale(const std::string& url, Sell sell_one) {
  stock s;
  std::atomic<int> sold = 0;
  std::vector<std::jthread> all;
  for (int i = 0; i < servers; ++i)
    all.emplace_back([&] {
      const auto client = hf::client::open(url);
      const auto lock = client.mutex("flash-sale/stock");
      for (int customer = 0; customer < customers_each; ++customer) sold += sell_one(s, lock);
    });
  all.clear();  // joins
  return sold;
}

int main(int argc, char** argv) try {
  const std::string url = argc > 1 ? argv[1] : "file:";
  const int naive =
      hold_a_sale(url, [](stock& s, const hf::mutex&) { return sell_without_a_lock(s); });
  const int locked = hold_a_sale(url, sell);
  std::printf("%d items in stock\nwithout a lock %d were sold\nwith the lock  %d\n", items, naive,
              locked);
  return locked == items ? 0 : 1;
} catch (const std::exception& e) {
  std::fprintf(stderr, "flash_sale: %s\n", e.what());
  return 1;
}
