// The late write of a holder that lost its lease arrives between the next holder's read and write.
// The tests play this on the resources of the examples and on the sale of README.md.
#include <gtest/gtest.h>
#include <holdfast/holdfast.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <functional>
#include <future>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

// Each example is a program; here its main() is one more function.
#define main play
namespace of_flash_sale {
#include "examples/flash_sale.cpp"
}
namespace of_increasing_id {
#include "examples/increasing_id.cpp"
}
namespace of_cron {
#include "examples/cron.cpp"
}
#undef main

namespace {

namespace hf = holdfast;
using namespace std::chrono_literals;

bool sell_as_in_readme(const hf::mutex& lock, of_flash_sale::stock& stock,
                       const std::function<void()>& take_payment) {
#include "sale.inc"
}

// Two clients that want one lock of a store whose faults the test controls.
class late_writes : public testing::Test {
 protected:
  void cut_off_first_holder() {
    store.stop_requests_of(first);
    store.advance(2s);  // beyond the ttl
  }

  hf::memory_store store{"late-writes"};
  hf::client first = hf::client::open(store.url() + "?ttl=1s");
  hf::client next = hf::client::open(store.url() + "?ttl=1s");
  hf::mutex first_lock = first.mutex("resource"), next_lock = next.mutex("resource");
};

TEST_F(late_writes, of_a_sale_sell_no_item_twice) {
  of_flash_sale::stock stock;
  stock.write(1);
  std::promise<void> first_has_read, next_has_read;
  auto first_sale = std::async(std::launch::async, [&] {
    return sell_as_in_readme(first_lock, stock, [&] {
      cut_off_first_holder();
      first_has_read.set_value();
      next_has_read.get_future().wait();
    });
  });
  first_has_read.get_future().wait();
  bool first_sold = true;
  const bool next_sold = sell_as_in_readme(next_lock, stock, [&] {
    next_has_read.set_value();
    first_sold = first_sale.get();
  });
  EXPECT_FALSE(first_sold);
  EXPECT_TRUE(next_sold);
  EXPECT_EQ(stock.read(), 0);
}

TEST_F(late_writes, of_a_flash_sale_are_refused) {
  of_flash_sale::stock stock;
  const hf::lease old = first_lock.acquire();
  EXPECT_EQ(stock.read(old), of_flash_sale::items);
  cut_off_first_holder();
  const hf::lease now = next_lock.acquire();
  EXPECT_EQ(stock.read(now), of_flash_sale::items);
  EXPECT_FALSE(stock.write(of_flash_sale::items - 1, old));
  EXPECT_TRUE(stock.write(of_flash_sale::items - 1, now));
}

TEST_F(late_writes, of_a_counter_give_no_number_twice) {
  of_increasing_id::counter counter;
  const hf::lease old = first_lock.acquire();
  EXPECT_EQ(counter.last(old), 0);
  cut_off_first_holder();
  const hf::lease now = next_lock.acquire();
  EXPECT_EQ(counter.last(now), 0);
  EXPECT_FALSE(counter.advance(1, old));
  EXPECT_TRUE(counter.advance(1, now));
  EXPECT_EQ(counter.last(old), std::nullopt);
}

TEST_F(late_writes, of_a_nightly_job_leave_the_record_to_the_next_machine) {
  of_cron::ledger ledger;
  const hf::lease old = first_lock.acquire();
  EXPECT_EQ(ledger.last_done(old), "");
  cut_off_first_holder();
  const hf::lease now = next_lock.acquire();
  EXPECT_EQ(ledger.last_done(now), "");
  EXPECT_FALSE(ledger.record("2026-11-20", old));
  EXPECT_EQ(ledger.last_done(now), "") << "the next machine reads what it read before";
  EXPECT_TRUE(ledger.record("2026-11-21", now));
}

}  // namespace
