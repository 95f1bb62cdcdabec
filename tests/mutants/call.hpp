// A thread that makes one call of the library, which may wait.
#pragma once
#include <sys/types.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <future>
#include <stop_token>
#include <thread>
#include <utility>

#include "testkit/asleep.hpp"

namespace holdfast::mutants {

class pending {  // a call of whatever result
 public:
  virtual ~pending() = default;
  virtual bool done() const = 0;

  void stop() { stop_.request_stop(); }
  pid_t thread() const { return thread_id_; }
  // Waits until the call is done or waits for somebody.
  void settle() const {
    using namespace std::chrono_literals;
    while (!done() && !testkit::falls_asleep(::getpid(), thread_id_, 25ms)) {}
  }

 protected:
  std::stop_source stop_;
  pid_t thread_id_ = 0;
};

template <class Result>
class call final : public pending {
 public:
  using function = std::function<Result(std::stop_token)>;

  explicit call(function what) {
    std::promise<pid_t> id;
    auto known = id.get_future();
    std::packaged_task<Result(std::stop_token)> task(std::move(what));
    result_ = task.get_future();
    thread_ = std::thread(
        [id = std::move(id), task = std::move(task), token = stop_.get_token()]() mutable {
          id.set_value(::gettid());
          task(std::move(token));
        });
    thread_id_ = known.get();
  }
  ~call() override {
    stop();
    thread_.join();
  }

  bool done() const override {
    if (!result_.valid()) return true;
    return result_.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  }
  Result result() { return result_.get(); }  // once

 private:
  std::future<Result> result_;
  std::thread thread_;
};

}  // namespace holdfast::mutants
