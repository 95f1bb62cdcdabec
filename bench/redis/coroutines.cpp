#include "redis/coroutines.hpp"

#include <holdfast/asio.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <exception>
#include <thread>
#include <vector>

#include "contenders.hpp"

namespace bench {
namespace {

boost::asio::awaitable<void> cycle(const holdfast::mutex& lock, worker_count& mine,
                                   const std::atomic<bool>& stop) {
  std::uint64_t n = 0;
  while (!stop.load(std::memory_order_relaxed)) {
    holdfast::lease held = co_await lock.async_acquire(boost::asio::use_awaitable);
    held.unlock();
    mine.cycles.store(++n, std::memory_order_relaxed);
  }
}

}  // namespace

outcome run_coroutines(std::span<const holdfast::mutex> locks, seconds length) {
  boost::asio::io_context context(1);
  std::vector<worker_count> counts(locks.size());
  std::atomic<bool> stop{false};
  for (std::size_t i = 0; i < locks.size(); ++i) {
    boost::asio::co_spawn(context, cycle(locks[i], counts[i], stop),
                          [](const std::exception_ptr& failed) {
                            if (failed) std::rethrow_exception(failed);  // ends the process
                          });
  }
  std::jthread only([&context] { context.run(); });
  outcome o = count_contenders(counts, length);
  stop = true;
  return o;
}

}  // namespace bench
