// For backends: tells claims' news to the core once no lock of the backend is held.
#pragma once
#include <atomic>

namespace holdfast::core {

// What a claim has to tell the core; told in this order.
enum class tell : unsigned char {
  nothing = 0,
  granted = 1,
  refused = 2,
  wanted = 4,
  moved = 8,
  lost = 16,
  ended = 32,
};

// One claim's news. A thread that posts while another one is telling leaves the news to that one,
// so calls to one sink are in order and never overlap. A claim may be destroyed from inside the
// call that tells its end; its memory is then given back by whoever was telling.
class news {
 public:
  // With the backend's lock held; true when the caller is to tell.
  bool post(tell) noexcept;
  // Without. Reads nothing of the claim after its end was told but whether more came.
  void tell_all();
  // For the destructor's place: true when nobody is telling and the memory may go at once.
  bool retire() noexcept { return !(due_.fetch_or(retired) & telling); }
  bool being_told() const noexcept { return due_.load(std::memory_order_acquire) & telling; }

 protected:
  virtual void say(tell) = 0;             // calls the sink
  virtual void give_back() noexcept = 0;  // after retire(): frees the memory
  ~news() = default;

 private:
  friend class crier;
  static constexpr unsigned char telling = 64, retired = 128;
  news* next_ = nullptr;
  std::atomic<unsigned char> due_{0};
};

// Those who have news, collected under the lock by one thread.
class crier {
 public:
  crier() noexcept = default;
  crier(const crier&) = delete;
  crier& operator=(const crier&) = delete;

  void post(news& who, tell what) noexcept {
    if (!who.post(what)) return;
    who.next_ = nullptr;
    *end_ = &who;
    end_ = &who.next_;
  }
  void tell_all();
  static bool telling_here() noexcept;  // the calling thread is inside a sink

 private:
  news* first_ = nullptr;
  news** end_ = &first_;
};

}  // namespace holdfast::core
