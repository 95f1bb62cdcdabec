// redis/w2-async: coroutines of one thread, each with a lock of its own.
#include <holdfast/asio.hpp>
#include <holdfast/holdfast.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <exception>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "contenders.hpp"
#include "redis/bare_limits.hpp"
#include "redis/fixture.hpp"
#include "row.hpp"

namespace bench {
namespace {

constexpr unsigned coroutines = 64;

boost::asio::awaitable<void> cycle(const holdfast::mutex& lock, worker_count& mine,
                                   const std::atomic<bool>& stop) {
  std::uint64_t n = 0;
  while (!stop.load(std::memory_order_relaxed)) {
    holdfast::lease held = co_await lock.async_acquire(boost::asio::use_awaitable);
    held.unlock();
    mine.cycles.store(++n, std::memory_order_relaxed);
  }
}

struct awaited_locks {
  redis_fixture fixture;
  holdfast::client client = holdfast::client::open(fixture.url());
  std::vector<holdfast::mutex> locks;

  awaited_locks() {
    for (unsigned i = 0; i < coroutines; ++i)
      locks.push_back(client.mutex("order/" + std::to_string(i)));
  }

  outcome run(seconds length) {
    boost::asio::io_context context(1);
    std::vector<worker_count> counts(coroutines);
    std::atomic<bool> stop{false};
    for (unsigned i = 0; i < coroutines; ++i) {
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
};

}  // namespace

std::vector<contest> redis_own_locks_async() {
  const auto own = std::make_shared<awaited_locks>();
  return {{"",
           [own](seconds length) { return bare_pipeline(own->fixture.port(), coroutines, length); },
           [own](seconds length) { return own->run(length); }}};
}

}  // namespace bench
