// Uses of locks that Clang's thread safety analysis must refuse; unfenced.cpp says how this file is
// checked.
//
// refuses read_without_lock: reading variable .* requires holding mutex
// refuses write_without_lock: writing variable .* requires holding mutex
// refuses write_under_share: writing variable .* requires holding mutex .* exclusively
// refuses second_lock: acquiring mutex .* that is already held
// refuses missing_unlock: mutex .* is still held at the end of function
// refuses missing_unlock_shared: mutex .* is still held at the end of function
// refuses unlock_of_an_unlocked: releasing mutex .* that was not held
// refuses write_after_a_failed_attempt: writing variable .* requires holding mutex
// refuses write_after_an_unchecked_attempt: writing variable .* requires holding mutex
// refuses write_after_a_scope: writing variable .* requires holding mutex
// refuses call_without_lock: calling function .* requires holding mutex
#include <holdfast/holdfast.hpp>

#include <chrono>

#define GUARDED_BY(x) __attribute__((guarded_by(x)))
#define REQUIRES(x) __attribute__((requires_capability(x)))
#define ACQUIRE(x) __attribute__((acquire_capability(x)))
#define RELEASE() __attribute__((release_capability()))
#define SCOPED_CAPABILITY __attribute__((scoped_lockable))

namespace hf = holdfast;

// std::lock_guard of libstdc++ has no annotations; docs/guides/threads-and-clients.md shows this.
template <class Lock>
class SCOPED_CAPABILITY scope {
 public:
  explicit scope(Lock& m) ACQUIRE(m) : mutex_(m) { m.lock(); }
  ~scope() RELEASE() { mutex_.unlock(); }
  scope(const scope&) = delete;
  scope& operator=(const scope&) = delete;

 private:
  Lock& mutex_;
};

struct program {
  explicit program(const hf::client& c) : mutex(c, "a"), recursive(c, "b"), shared(c, "c") {}

  void use_correctly();
  void use_shared();
  void count() REQUIRES(mutex) { ++counter; }
  void go_wrong();

  hf::mutex mutex;
  hf::recursive_mutex recursive;
  hf::shared_mutex shared;
  int counter GUARDED_BY(mutex) = 0;
  int depth GUARDED_BY(recursive) = 0;
  int table GUARDED_BY(shared) = 0;
  int reads = 0;
};

void program::use_correctly() {
  using namespace std::chrono_literals;
  mutex.lock();
  count();
  mutex.unlock();
  if (mutex.try_lock()) {
    ++counter;
    mutex.unlock();
  }
  if (mutex.try_lock_for(1s)) {
    ++counter;
    mutex.unlock();
  }
  if (mutex.try_lock_until(std::chrono::steady_clock::now() + 1s)) {
    ++counter;
    mutex.unlock();
  }
  const scope in_here(recursive);
  ++depth;
}

void program::use_shared() {
  using namespace std::chrono_literals;
  shared.lock_shared();
  reads += table;
  shared.unlock_shared();
  if (shared.try_lock_shared()) {
    reads += table;
    shared.unlock_shared();
  }
  if (shared.try_lock_shared_for(1s)) {
    reads += table;
    shared.unlock_shared();
  }
  const scope alone(shared);
  ++table;
}

void program::go_wrong() {
#ifdef read_without_lock
  if (counter > 0) return;
#endif
#ifdef write_without_lock
  ++counter;
#endif
#ifdef write_under_share
  shared.lock_shared();
  ++table;
  shared.unlock_shared();
#endif
#ifdef second_lock
  mutex.lock();
  mutex.lock();
  mutex.unlock();
#endif
#ifdef missing_unlock
  mutex.lock();
#endif
#ifdef missing_unlock_shared
  shared.lock_shared();
#endif
#ifdef unlock_of_an_unlocked
  mutex.unlock();
#endif
#ifdef write_after_a_failed_attempt
  if (!mutex.try_lock())
    ++counter;
  else
    mutex.unlock();
#endif
#ifdef write_after_an_unchecked_attempt
  const bool is_locked = mutex.try_lock();
  ++counter;
  if (is_locked) mutex.unlock();
#endif
#ifdef write_after_a_scope
  { const scope in_here(mutex); }
  ++counter;
#endif
#ifdef call_without_lock
  count();
#endif
}
