// After fork() the child owns nothing: no lease, no lock of a mutex, no thread, no connection.
#pragma once
#include <atomic>

namespace holdfast::core {

// How many forks lie between this process and the one that loaded the library. What was made in
// another generation must not be touched: its mutexes may be held by threads that do not exist.
extern std::atomic<unsigned> fork_generation_now;
inline unsigned fork_generation() noexcept {
  return fork_generation_now.load(std::memory_order_relaxed);
}

// Told in the child of each fork, with only the forking thread alive: async-signal-safe calls only.
class fork_listener {
 public:
  virtual void forked() noexcept = 0;

 protected:
  fork_listener() = default;
  ~fork_listener() = default;
  // The last act of a constructor and the first of a destructor: forks come at any time. The first
  // one installs the pthread_atfork handlers.
  void listen();
  void stop_listening() noexcept;
  fork_listener(const fork_listener&) = delete;
  fork_listener& operator=(const fork_listener&) = delete;

 private:
  friend struct fork_registry;
  fork_listener* next_ = nullptr;
  fork_listener* before_ = nullptr;
};

}  // namespace holdfast::core
