// Who receives the reply to a request.
#pragma once
#include <string_view>

#include "base/environment.hpp"
#include "base/event_queue.hpp"

namespace holdfast::redis {

class value;

struct reply_context {
  core::time_point now;
  core::time_point sent;  // before the first byte of the request left
  core::event_queue& events;
  std::string_view aborted;  // why the server refused the transaction that ends here; else empty
};

// Exactly one of the three is called for each request, in the order of sending, with the group's
// mutex held.
class reply_handler {
 public:
  virtual void on_reply(const value&, const reply_context&) = 0;
  // The server did not know the script, and did nothing.
  virtual void on_not_executed(const reply_context&) = 0;
  virtual void on_cut(const reply_context&) = 0;  // nobody knows whether it was executed

 protected:
  ~reply_handler() = default;
};

}  // namespace holdfast::redis
