#include "redis/bare_threads.hpp"

#include <cerrno>
#include <utility>
#include <vector>

#include "redis/bare_limits.hpp"

namespace bench {

shared_connection::shared_connection(int port) : redis_(port), reader_([this] { read(); }) {}

shared_connection::~shared_connection() {
  ends_ = true;
  sem_t last;
  ::sem_init(&last, 0, 0);
  send(formatted({"PING"}), 1, last);
  reader_.join();
  ::sem_destroy(&last);
}

void shared_connection::send(const std::string& commands, std::size_t replies, sem_t& whose) {
  {
    const std::lock_guard guard(mutex_);
    unsent_ += commands;
    awaited_.insert(awaited_.end(), replies - 1, nullptr);
    awaited_.push_back(&whose);
    if (std::exchange(is_written_to_, true)) return;
  }
  for (std::string next;; next.clear()) {
    {
      const std::lock_guard guard(mutex_);
      next.swap(unsent_);
      is_written_to_ = !next.empty();
    }
    if (next.empty()) return;
    redis_.append(next);
    redis_.flush();
  }
}

void shared_connection::read() {
  std::vector<sem_t*> answered;
  for (bool is_last = false; !is_last;) {
    const std::size_t replies = redis_.skip_what_comes();
    {
      const std::lock_guard guard(mutex_);
      const auto end = awaited_.begin() + static_cast<std::ptrdiff_t>(replies);
      answered.assign(awaited_.begin(), end);
      awaited_.erase(awaited_.begin(), end);
      is_last = ends_ && awaited_.empty();
    }
    for (sem_t* const a : answered)
      if (a) ::sem_post(a);
  }
}

blocking_lock::blocking_lock(shared_connection& over, const std::string& key) : over_(over) {
  const auto cycle = set_and_compare.cycle_on(key, bare_owner);
  acquire_ = cycle.front();
  release_and_acquire_ = cycle.back() + cycle.front();
  ::sem_init(&answered_, 0, 0);
}

void blocking_lock::lock() {
  if (std::exchange(is_to_release_, false))
    over_.send(release_and_acquire_, 2, answered_);
  else
    over_.send(acquire_, 1, answered_);
  while (::sem_wait(&answered_) != 0 && errno == EINTR) {}
}

}  // namespace bench
