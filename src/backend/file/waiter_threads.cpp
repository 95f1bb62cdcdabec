#include "backend/file/waiter_threads.hpp"

#include <pthread.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <new>
#include <vector>

#include "base/quiet_thread.hpp"

namespace holdfast::file {
namespace {

constexpr std::chrono::seconds idle_time{10};

// The pool for which the calling thread works.
thread_local const void* works_for = nullptr;

}  // namespace

struct waiter_threads::shared {
  std::mutex mutex;
  std::condition_variable changed;  // for idle threads
  std::condition_variable done;     // for close()
  std::deque<blocking_job*> queue;
  std::vector<blocking_job*> running;
  std::size_t idle = 0;
  std::size_t threads = 0;
  bool closed = false;
  bool in_child = false;

  void serve(interrupter&, std::unique_lock<std::mutex>&);
};

waiter_threads::waiter_threads() : shared_(std::make_shared<shared>()) {}

waiter_threads::~waiter_threads() {
  // Leaked: the parent's mutex may be locked here.
  if (shared_->in_child) new std::shared_ptr<shared>(std::move(shared_));
}

bool waiter_threads::post(blocking_job& job) noexcept try {
  const std::lock_guard guard(shared_->mutex);
  if (shared_->closed) return false;
  shared_->running.reserve(shared_->threads + 1);  // so that a thread never fails to take a job
  shared_->queue.push_back(&job);
  if (shared_->idle >= shared_->queue.size()) {
    shared_->changed.notify_one();
    return true;
  }
  pthread_t thread;
  if (!base::start_quiet_thread(thread, "holdfast-flock", [pool = shared_] { run(*pool); })) {
    shared_->queue.pop_back();
    return false;
  }
  ::pthread_detach(thread);
  ++shared_->threads;
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

void waiter_threads::run(shared& pool) {
  works_for = &pool;
  interrupter interrupts;
  std::unique_lock lock(pool.mutex);
  for (;;) {
    if (!pool.queue.empty()) {
      pool.serve(interrupts, lock);
      continue;
    }
    if (pool.closed) break;
    ++pool.idle;
    const bool called = pool.changed.wait_for(lock, idle_time, [&pool] {
      return pool.closed || !pool.queue.empty();
    });
    --pool.idle;
    if (!called) break;
  }
  --pool.threads;
  pool.done.notify_all();
}

void waiter_threads::shared::serve(interrupter& interrupts, std::unique_lock<std::mutex>& lock) {
  blocking_job& job = *queue.front();
  queue.pop_front();
  running.push_back(&job);
  lock.unlock();
  job.block(interrupts);
  lock.lock();
  std::erase(running, &job);
  lock.unlock();
  job.answer();
  lock.lock();
  if (closed) done.notify_all();
}

void waiter_threads::close(std::chrono::nanoseconds at_most) noexcept {
  if (shared_->in_child) return;
  std::unique_lock lock(shared_->mutex);
  shared_->closed = true;
  for (blocking_job* job : shared_->queue) job->stop();
  for (blocking_job* job : shared_->running) job->stop();
  shared_->changed.notify_all();
  // The caller may be one of the threads, when an answer drops the last reference to the client.
  const std::size_t left = works_for == shared_.get() ? 1 : 0;
  const auto longest = std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::hours{1});
  shared_->done.wait_for(lock, std::clamp(at_most, std::chrono::nanoseconds{}, longest),
                         [&] { return shared_->threads <= left; });
}

void waiter_threads::forked() noexcept { shared_->in_child = true; }

}  // namespace holdfast::file
