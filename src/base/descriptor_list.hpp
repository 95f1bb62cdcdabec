// The sockets of a client; a fork's child finds them without taking a lock.
#pragma once
#include <unistd.h>

#include <atomic>
#include <utility>

namespace holdfast::base {

// A list of places for descriptors. It never shrinks; a free place is reused. Safe from any thread.
class descriptor_list {
 public:
  class place {
   public:
    void put(int fd) noexcept { fd_.store(fd, std::memory_order_release); }
    // Call before close(): a closed descriptor's number may already be another file. Frees the
    // place.
    void take() noexcept {
      fd_.store(-1, std::memory_order_release);
      taken_.store(false, std::memory_order_release);
    }

   private:
    friend class descriptor_list;
    std::atomic<int> fd_{-1};
    std::atomic<bool> taken_{true};
    place* next_ = nullptr;
  };

  descriptor_list() = default;
  descriptor_list(const descriptor_list&) = delete;
  descriptor_list& operator=(const descriptor_list&) = delete;
  ~descriptor_list() {
    for (place* p = first_.load(); p;) delete std::exchange(p, p->next_);
  }

  place& get() {
    for (place* p = first_.load(std::memory_order_acquire); p; p = p->next_)
      if (!p->taken_.exchange(true, std::memory_order_acq_rel)) return *p;
    place* const fresh = new place;
    fresh->next_ = first_.load(std::memory_order_relaxed);
    while (!first_.compare_exchange_weak(fresh->next_, fresh, std::memory_order_acq_rel)) {}
    return *fresh;
  }

  void close_all() noexcept {
    for (place* p = first_.load(std::memory_order_acquire); p; p = p->next_)
      if (const int fd = p->fd_.exchange(-1); fd >= 0) ::close(fd);
  }

 private:
  std::atomic<place*> first_{nullptr};
};

}  // namespace holdfast::base
