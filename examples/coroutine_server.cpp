// A server of coroutines: one thread serves all connections, and each of them waits for locks
// without blocking it.
//
//   coroutine_server [URL]      where the locks are; without it, in a directory of this machine
//
// It keeps accounts. A request is a line, the number of an account to pay 1 into; the answer is
// the new balance. Here customers of its own, coroutines too, send the requests.
#include <holdfast/asio.hpp>
#include <holdfast/holdfast.hpp>

#include <array>
#include <boost/asio.hpp>
#include <chrono>
#include <cstdio>
#include <exception>
#include <optional>
#include <string>
#include <vector>

namespace asio = boost::asio;
namespace hf = holdfast;
using asio::awaitable;
using asio::use_awaitable;
using asio::ip::tcp;
using namespace std::chrono_literals;

constexpr int accounts = 2, customers = 8, payments_each = 5;

// Stands for a row of a database. A holder presents its token when it reads and when it writes, so
// no earlier holder can write between the two.
class row {
 public:
  std::optional<int> read(const hf::lease& by) {
    if (!guard_.admit(by)) return std::nullopt;
    return balance_;
  }
  bool write(int balance, const hf::lease& by) {
    if (!guard_.admit(by)) return false;
    balance_ = balance;
    return true;
  }
  int balance() const { return balance_; }

 private:
  hf::fencing_guard guard_;
  int balance_ = 0;
};

struct bank {
  hf::client locks;
  std::array<row, accounts> rows{};

  awaitable<int> pay_in(std::size_t account) {
    const auto lock = locks.mutex("account/" + std::to_string(account));
    asio::steady_timer database(co_await asio::this_coro::executor);
    for (;;) {
      hf::lease lease = co_await lock.async_acquire(use_awaitable);
      const std::optional<int> balance = rows[account].read(lease);
      if (!balance) continue;  // refused: this lease was lost already
      database.expires_after(1ms);
      co_await database.async_wait(use_awaitable);  // other coroutines work on other accounts
      if (!rows[account].write(*balance + 1, lease)) continue;
      co_await lease.async_release(use_awaitable);  // the answer goes out when the lock is free
      co_return *balance + 1;
    }
  }
};

awaitable<void> serve(tcp::socket peer, bank& b) try {
  std::string line;
  for (;;) {
    const auto size =
        co_await asio::async_read_until(peer, asio::dynamic_buffer(line), '\n', use_awaitable);
    const auto account = static_cast<std::size_t>(std::stoul(line)) % accounts;
    line.erase(0, size);
    const int balance = co_await b.pay_in(account);
    const std::string answer = std::to_string(balance) + '\n';
    co_await asio::async_write(peer, asio::buffer(answer), use_awaitable);
  }
} catch (const boost::system::system_error&) {
  // The customer has left.
}

awaitable<void> listen(tcp::acceptor& door, bank& b) {
  for (int i = 0; i < customers; ++i) {
    tcp::socket peer = co_await door.async_accept(use_awaitable);
    asio::co_spawn(door.get_executor(), serve(std::move(peer), b), asio::detached);
  }
}

awaitable<void> be_customer(tcp::endpoint where, std::string account) {
  tcp::socket server(co_await asio::this_coro::executor);
  co_await server.async_connect(where, use_awaitable);
  std::string answer;
  for (int i = 0; i < payments_each; ++i) {
    co_await asio::async_write(server, asio::buffer(account), use_awaitable);
    const auto size =
        co_await asio::async_read_until(server, asio::dynamic_buffer(answer), '\n', use_awaitable);
    answer.erase(0, size);
  }
}

int main(int argc, char** argv) try {
  asio::io_context context(1);
  bank b{hf::client::open(argc > 1 ? argv[1] : "file:")};
  tcp::acceptor door(context, {asio::ip::address_v4::loopback(), 0});
  asio::co_spawn(context, listen(door, b), asio::detached);
  for (int i = 0; i < customers; ++i)
    asio::co_spawn(context, be_customer(door.local_endpoint(), std::to_string(i % accounts) + '\n'),
                   asio::detached);
  context.run();
  int sum = 0;
  for (const row& r : b.rows) sum += r.balance();
  std::printf("%d payments, %d arrived\n", customers * payments_each, sum);
  return sum == customers * payments_each ? 0 : 1;
} catch (const std::exception& e) {
  std::fprintf(stderr, "coroutine_server: %s\n", e.what());
  return 1;
}
