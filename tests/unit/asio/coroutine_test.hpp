// A test that runs coroutines and handlers on a context of its own.
#pragma once
#include <gtest/gtest.h>
#include <holdfast/lease.hpp>
#include <holdfast/multi_mutex.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/system/error_code.hpp>
#include <chrono>
#include <exception>
#include <functional>
#include <utility>

namespace holdfast {

// The compiler makes a whole operation anew for each type of coroutine and of handler, so most
// tests share these. A few have handlers of their own types, as users do.
using coroutine = std::function<boost::asio::awaitable<void>()>;
using code_handler = std::function<void(boost::system::error_code)>;
using lease_handler = std::function<void(boost::system::error_code, lease)>;
using lease_set_handler = std::function<void(boost::system::error_code, lease_set)>;

class coroutine_test : public testing::Test {
 protected:
  // Runs what has been spawned until all of it has ended.
  void run() {
    context_.restart();
    context_.run_for(std::chrono::seconds(30));  // generous
    ASSERT_TRUE(context_.stopped());
  }
  void run(const coroutine& body) {
    std::exception_ptr thrown;
    boost::asio::co_spawn(context_, body, [&](std::exception_ptr e) { thrown = e; });
    run();
    if (thrown) std::rethrow_exception(thrown);
  }

  auto on_context(code_handler h) { return boost::asio::bind_executor(context_, std::move(h)); }
  auto on_context(lease_handler h) { return boost::asio::bind_executor(context_, std::move(h)); }
  auto on_context(lease_set_handler h) {
    return boost::asio::bind_executor(context_, std::move(h));
  }
  // The signal cancels the operation.
  template <class Handler>
  auto on_context(boost::asio::cancellation_signal& s, Handler h) {
    return boost::asio::bind_cancellation_slot(s.slot(), on_context(std::move(h)));
  }

  boost::asio::io_context context_{1};
};

}  // namespace holdfast
