// A test that runs coroutines on a context of its own.
#pragma once
#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <exception>
#include <utility>

namespace holdfast {

class coroutine_test : public testing::Test {
 protected:
  // Runs what has been spawned until all of it has ended.
  void run() {
    context_.restart();
    context_.run_for(std::chrono::seconds(30));  // generous
    ASSERT_TRUE(context_.stopped());
  }
  template <class Coroutine>
  void run(Coroutine body) {
    std::exception_ptr thrown;
    boost::asio::co_spawn(context_, std::move(body), [&](std::exception_ptr e) { thrown = e; });
    run();
    if (thrown) std::rethrow_exception(thrown);
  }

  boost::asio::io_context context_{1};
};

}  // namespace holdfast
