// After fork() the child owns nothing: no lease, no locked mutex, no thread, no connection.
#pragma once
#include <atomic>

namespace holdfast::base {

// The number of forks between this process and the one that loaded the library. An object made in
// another generation must not be touched: a thread that does not exist here may hold its mutexes.
extern std::atomic<unsigned> fork_generation_now;
inline unsigned fork_generation() noexcept {
  return fork_generation_now.load(std::memory_order_relaxed);
}

// Called in the child of each fork, while only the forking thread exists: async-signal-safe calls
// only.
class fork_listener {
 public:
  virtual void forked() noexcept = 0;

 protected:
  fork_listener() = default;
  ~fork_listener() = default;
  // listen() is the last act of a constructor, stop_listening() the first of a destructor: a fork
  // may come at any time. The first call of listen() installs the pthread_atfork handlers.
  void listen();
  void stop_listening() noexcept;
  fork_listener(const fork_listener&) = delete;
  fork_listener& operator=(const fork_listener&) = delete;

 private:
  friend struct fork_registry;
  fork_listener* next_ = nullptr;
  fork_listener* before_ = nullptr;
};

}  // namespace holdfast::base
