// The share of a shared mutex in the shape of a mutex, for what locks and unlocks mutexes.
#pragma once

namespace bench {

template <class SharedMutex>
struct reading {
  SharedMutex& of;
  void lock() { of.lock_shared(); }
  void unlock() { of.unlock_shared(); }
};

}  // namespace bench
