// The receiver of the reply to a request.
#pragma once
#include "backend/zookeeper/transport/replies.hpp"
#include "base/environment.hpp"
#include "base/event_queue.hpp"

namespace holdfast::zookeeper {

struct reply_context {
  base::time_point now;
  base::time_point sent;  // before the first byte of the request left
  base::event_queue& events;
};

// Exactly one of the two is called for each request, in the order of sending, with the transport's
// mutex held.
class reply_handler {
 public:
  virtual void on_reply(const reply&, const reply_context&) = 0;
  // It is unknown whether the request was executed; `was_sent` false: it was not.
  virtual void on_cut(bool was_sent, const reply_context&) = 0;
  // False: whoever asked has given up. While it was not sent it is cut then.
  virtual bool has_requester() const noexcept { return true; }

 protected:
  ~reply_handler() = default;
};

}  // namespace holdfast::zookeeper
