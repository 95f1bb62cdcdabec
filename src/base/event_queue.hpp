// For backends: delivers the events of claims to the core once the backend's lock is released.
#pragma once
#include <atomic>
#include <cstdint>
#include <thread>

namespace holdfast::base {

// The events a claim reports to the core, dispatched in this order.
enum class claim_event : std::uint16_t {
  none = 0,
  granted = 1,
  refused = 2,
  wanted = 4,
  extended = 8,
  doubtful = 16,
  revocation = 32,  // another program requests the lock
  lost = 64,
  ended = 128,
};
// Several events of one claim, as a mask.
constexpr claim_event operator|(claim_event a, claim_event b) noexcept {
  return static_cast<claim_event>(static_cast<std::uint16_t>(a) | static_cast<std::uint16_t>(b));
}
constexpr bool has(claim_event mask, claim_event event) noexcept {
  return (static_cast<std::uint16_t>(mask) & static_cast<std::uint16_t>(event)) != 0;
}

// The pending events of one claim. A thread that posts while another one dispatches leaves the
// event to that thread, so calls to one sink are in order and never overlap. The sink may destroy
// the claim during its last event; the dispatching thread then frees the memory.
class event_source {
 public:
  // With the backend's lock held; true when the caller must call dispatch().
  bool post(claim_event) noexcept;
  // Without the lock. After the claim's last event it reads only whether more events were posted.
  void dispatch();
  // In place of the destructor: true when no thread dispatches and the memory may be freed at once.
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
  static constexpr std::uint16_t dispatching = 256, retired = 512;
  event_source* next_ = nullptr;
  std::atomic<std::uint16_t> due_{0};
};

// The claims with pending events, collected under the lock by one thread.
class event_queue {
 public:
  event_queue() noexcept = default;
  event_queue(const event_queue&) = delete;
  event_queue& operator=(const event_queue&) = delete;

  void post(event_source& source, claim_event event) noexcept {
    if (!source.post(event)) return;
    source.next_ = nullptr;
    *end_ = &source;
    end_ = &source.next_;
  }
  void dispatch();
  static bool dispatching_here() noexcept;  // the calling thread is inside a sink
  // Waits until what another thread has begun to dispatch is done; not from inside a sink.
  template <class IsDispatching>
  static void await_dispatch(IsDispatching is_dispatching) {
    while (!dispatching_here() && is_dispatching()) std::this_thread::yield();
  }

 private:
  event_source* first_ = nullptr;
  event_source** end_ = &first_;
};

}  // namespace holdfast::base
