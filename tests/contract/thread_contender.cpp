#include <unistd.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "contender.hpp"
#include "process/actor.hpp"

namespace contract {
namespace {

class lines {
 public:
  void put(std::string line) {
    const std::lock_guard guard(mutex_);
    waiting_.push_back(std::move(line));
    arrived_.notify_all();
  }

  std::string take(std::chrono::milliseconds bound) {
    std::unique_lock guard(mutex_);
    if (!arrived_.wait_for(guard, bound, [this] { return !waiting_.empty(); })) return "";
    auto line = std::move(waiting_.front());
    waiting_.pop_front();
    return line;
  }

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<std::string> waiting_;
};

class thread_contender final : public contender {
 public:
  explicit thread_contender(subject& store) : store_(store), thread_([this] { work(); }) {
    answers_.take(generous);  // its thread id is known
  }
  ~thread_contender() override {
    commands_.put("");
    actor_.end_waits();
    if (stopped_) store_.go_on(actor_.client());
    thread_.join();
  }

  void send(const std::string& line) override { commands_.put(line); }
  std::string receive(std::chrono::milliseconds bound) override { return answers_.take(bound); }
  pid_t process() const override { return ::getpid(); }
  pid_t thread() const override { return id_; }
  void stop() override {
    stopped_ = true;
    store_.stop(actor_.client());
  }
  void go_on() override {
    stopped_ = false;
    store_.go_on(actor_.client());
  }
  void kill() override { stop(); }

 private:
  void work() {
    id_ = ::gettid();
    const auto say = [this](const std::string& text) { answers_.put(text); };
    say("here");
    for (;;) {
      const auto line = commands_.take(std::chrono::hours(1));
      if (line.empty()) return;
      actor_.obey(line, say);
    }
  }

  subject& store_;
  actor actor_;
  lines commands_, answers_;
  pid_t id_ = 0;
  bool stopped_ = false;
  std::thread thread_;
};

}  // namespace

std::unique_ptr<contender> make_thread_contender(subject& store) {
  return std::make_unique<thread_contender>(store);
}

}  // namespace contract
