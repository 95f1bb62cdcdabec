#include "base/fork.hpp"

#include <pthread.h>

#include <mutex>

namespace holdfast::base {

std::atomic<unsigned> fork_generation_now{0};

// Its mutex is held over fork(), so that the child never finds the list half-changed.
struct fork_registry {
  std::mutex mutex;
  fork_listener* first = nullptr;

  static fork_registry& get() {
    static fork_registry& registry = *new fork_registry;  // outlives every static client
    static const int installed =
        pthread_atfork([] { get().mutex.lock(); }, [] { get().mutex.unlock(); },
                       [] { get().in_child(); });
    (void)installed;
    return registry;
  }

  void in_child() {
    fork_generation_now.fetch_add(1, std::memory_order_relaxed);
    for (fork_listener* l = first; l; l = l->next_) l->forked();
    first = nullptr;
    mutex.unlock();
  }

  void add(fork_listener& l) {
    const std::lock_guard guard(mutex);
    l.next_ = first;
    if (first) first->before_ = &l;
    first = &l;
  }

  void remove(fork_listener& l) {
    const std::lock_guard guard(mutex);
    if (l.before_) {
      l.before_->next_ = l.next_;
    } else if (first == &l) {
      first = l.next_;
    }
    if (l.next_) l.next_->before_ = l.before_;
  }
};

void fork_listener::listen() { fork_registry::get().add(*this); }
void fork_listener::stop_listening() noexcept { fork_registry::get().remove(*this); }

}  // namespace holdfast::base
