// A coroutine of Boost.Asio, by a user of the component asio.
#include <holdfast/asio.hpp>
#include <holdfast/holdfast.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace asio = boost::asio;

static asio::awaitable<void> take(holdfast::mutex& mutex, bool& taken) {
  const holdfast::lease lease = co_await mutex.async_acquire(asio::use_awaitable);
  taken = lease.held();
}

int main() {
  auto client = holdfast::client::open("memory:");
  auto mutex = client.mutex("consumer");
  asio::io_context context;
  bool taken = false;
  asio::co_spawn(context, take(mutex, taken), asio::detached);
  context.run();
  return taken ? 0 : 1;
}
