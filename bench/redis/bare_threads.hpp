// Many threads on one bare connection: what a lock can reach whose callers block.
#pragma once
#include <semaphore.h>

#include <atomic>
#include <deque>
#include <mutex>
#include <string>
#include <thread>

#include "redis/bare_redis.hpp"

namespace bench {

class shared_connection {
 public:
  explicit shared_connection(int port);
  ~shared_connection();

  // Wakes `whose` once the last of the replies is here. The commands of threads that come while one
  // of them writes go into the next write together.
  void send(const std::string& commands, std::size_t replies, sem_t& whose);

 private:
  void read();

  bare_redis redis_;  // written by the thread that writes, and read by reader_
  std::mutex mutex_;
  std::string unsent_;
  bool is_written_to_ = false;
  std::deque<sem_t*> awaited_;  // for each reply; null: nobody waits for it
  std::atomic<bool> ends_{false};
  std::jthread reader_;
};

// For one thread. The release goes into one write with the next acquire, and is not waited for.
class blocking_lock {
 public:
  blocking_lock(shared_connection&, const std::string& key);
  blocking_lock(const blocking_lock&) = delete;
  blocking_lock& operator=(const blocking_lock&) = delete;
  ~blocking_lock() { ::sem_destroy(&answered_); }
  void lock();
  void unlock() noexcept { is_to_release_ = true; }

 private:
  shared_connection& over_;
  std::string acquire_, release_and_acquire_;
  bool is_to_release_ = false;
  sem_t answered_;
};

}  // namespace bench
