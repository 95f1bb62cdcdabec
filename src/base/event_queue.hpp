// For backends: tells claims' news to the core once no lock of the backend is held.
#pragma once
#include <atomic>

namespace holdfast::core {

// What a claim has to tell the core; told in this order.
enum class claim_event : unsigned char {
  none = 0,
  granted = 1,
  refused = 2,
  wanted = 4,
  extended = 8,
  lost = 16,
  ended = 32,
};

// One claim's news. A thread that posts while another one is telling leaves the news to that one,
// so calls to one sink are in order and never overlap. A claim may be destroyed from inside the
// call that tells its end; its memory is then given back by whoever was telling.
class event_source {
 public:
  // With the backend's lock held; true when the caller is to tell.
  bool post(claim_event) noexcept;
  // Without. Reads nothing of the claim after its end was told but whether more came.
  void dispatch();
  // For the destructor's place: true when nobody is telling and the memory may go at once.
  bool retire() noexcept { return !(due_.fetch_or(retired) & dispatching); }
  bool is_dispatching() const noexcept {
    return due_.load(std::memory_order_acquire) & dispatching;
  }

 protected:
  virtual void on_event(claim_event) = 0;  // calls the sink
  virtual void on_retired() noexcept = 0;  // after retire(): frees the memory
  ~event_source() = default;

 private:
  friend class event_queue;
  static constexpr unsigned char dispatching = 64, retired = 128;
  event_source* next_ = nullptr;
  std::atomic<unsigned char> due_{0};
};

// Those who have news, collected under the lock by one thread.
class event_queue {
 public:
  event_queue() noexcept = default;
  event_queue(const event_queue&) = delete;
  event_queue& operator=(const event_queue&) = delete;

  void post(event_source& who, claim_event what) noexcept {
    if (!who.post(what)) return;
    who.next_ = nullptr;
    *end_ = &who;
    end_ = &who.next_;
  }
  void dispatch();
  static bool dispatching_here() noexcept;  // the calling thread is inside a sink

 private:
  event_source* first_ = nullptr;
  event_source** end_ = &first_;
};

}  // namespace holdfast::core
