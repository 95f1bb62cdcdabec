#include "io/thread_worker.hpp"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>

#include "base/quiet_thread.hpp"
#include "io/fork_mark.hpp"

namespace holdfast::io {

struct thread_worker::state {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<void()>> jobs;
  bool started = false, stopping = false;
  pthread_t thread{};
  std::string name;
  const std::uint32_t mark = fork_mark();

  void run() noexcept;
};

void thread_worker::state::run() noexcept {
  std::unique_lock lock(mutex);
  for (;;) {
    changed.wait(lock, [&] { return stopping || !jobs.empty(); });
    if (jobs.empty()) return;
    {
      const auto job = std::move(jobs.front());
      jobs.pop_front();
      lock.unlock();
      job();
    }
    lock.lock();
  }
}

thread_worker::thread_worker(const char* thread_name) : state_(std::make_shared<state>()) {
  state_->name = thread_name;
}

void thread_worker::post(std::function<void()> job) {
  state& s = *state_;
  if (s.mark != fork_mark()) return;
  const std::lock_guard lock(s.mutex);
  if (!s.started)
    base::require_quiet_thread(s.thread, s.name.c_str(), [kept = state_] { kept->run(); });
  s.started = true;
  s.jobs.push_back(std::move(job));
  s.changed.notify_one();
}

thread_worker::~thread_worker() {
  state& s = *state_;
  if (s.mark != fork_mark()) {
    // The thread exists in the parent only, and the mutex may be locked here: leak the state.
    new std::shared_ptr<state>(std::move(state_));
    return;
  }
  {
    const std::lock_guard lock(s.mutex);
    s.stopping = true;
    if (!s.started) return;
    s.changed.notify_one();
  }
  base::end_quiet_thread(s.thread);
}

}  // namespace holdfast::io
