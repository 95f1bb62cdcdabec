// The wait of a thread that opens or closes its client.
#pragma once
#include <optional>

#include "base/environment.hpp"
#include "base/failure.hpp"
#include "base/parker.hpp"

namespace holdfast::io {

class blocking_wait {
 public:
  explicit blocking_wait(base::time_point until) noexcept : until_(until) {}
  blocking_wait(const blocking_wait&) = delete;
  blocking_wait& operator=(const blocking_wait&) = delete;

  const base::failure& why() const noexcept {
    return why_;
  }  // it ended in vain; code {}: it did not

 protected:
  ~blocking_wait() = default;

 private:
  friend class client_reactor;
  // With the mutex, after each event and when the time is over: how it has ended; {}: it goes on.
  virtual std::optional<base::failure> outcome(bool is_overdue) = 0;

  base::parker parker_;
  const base::time_point until_;
  base::failure why_;
  bool is_counted_ = false;  // by client_reactor::waiting()
};

}  // namespace holdfast::io
