// An operator's query, such as for the holders of a lock: how it ends. Its requests and replies are
// its backend's.
#pragma once
#include <utility>

#include "base/event_queue.hpp"
#include "seam/result_handler.hpp"

namespace holdfast::claims {

// Deletes itself when it was answered and awaits nothing more.
template <class T>
class admin_query : protected base::event_source {
 public:
  virtual ~admin_query() = default;

 protected:
  explicit admin_query(seam::result_handler<T>& to) noexcept : to_(to) {}

  // Without the mutex, just before the result is delivered.
  virtual void complete(T&) {}

  void fail(base::failure f) {  // the first counts
    if (!why_.code) why_ = std::move(f);
  }
  bool has_failed() const noexcept { return static_cast<bool>(why_.code); }
  // Once; the handler may be gone afterwards.
  void deliver() {
    if (has_failed()) return to_.on_failed(std::move(why_));
    complete(result);
    to_.on_result(std::move(result));
  }

  T result{};

 private:
  void on_event(base::claim_event) override {
    deliver();
    retire();
  }
  void on_retired() noexcept final { delete this; }

  seam::result_handler<T>& to_;
  base::failure why_;
};

}  // namespace holdfast::claims
