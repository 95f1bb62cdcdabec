// A flash sale: many servers sell the last items of a stock, and must not sell one too many.
//
//   flash_sale [URL]      where the locks are; without it, in a directory of this machine
#include <holdfast/holdfast.hpp>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <exception>
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
  int read() const { return left_; }
  void write(int left) { left_ = left; }

  // The same, for holders of a lock. A server that stalls between its last check and this line may
  // have lost its lease meanwhile: its token is too old then, and the write is refused.
  bool write(int left, const hf::lease& by) {
    if (!guard_.admit(by)) return false;
    left_ = left;
    return true;
  }

 private:
  std::atomic<int> left_{items};
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
  const int left = s.read();
  if (left == 0) return false;
  std::this_thread::sleep_for(1ms);
  return s.write(left - 1, lease);
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
  const std::string url = argc > 1 ? argv[1] : "";
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
