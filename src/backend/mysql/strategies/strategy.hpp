// A strategy: which rows, or which locks of the server, represent a lock. It owns its claims and
// sends for them over the transport.
//
// Beginning and end: the constructor knows no server yet; attach() gives it the transport; detach()
// takes that away once the transport has stopped.
#pragma once
#include <string>
#include <vector>

#include "backend/mysql/transport/transport.hpp"
#include "seam/lock_store.hpp"

namespace holdfast::mysql {

class strategy : public seam::lock_store, public transport_user {
 public:
  virtual transport::bounds connections() const = 0;
  // The statements that create its tables where they are missing; on_ready() sends them.
  virtual std::vector<std::string> schema() const { return {}; }

  // All with the transport's mutex held.
  virtual void attach(transport&) = 0;
  virtual void detach() noexcept = 0;
  // The client ends: what may be left on the server is withdrawn once more.
  virtual void withdraw_all(time_point now) = 0;
  virtual bool is_settled() const noexcept = 0;  // nothing has to be withdrawn any more
  // Ends what waits for an answer; nothing more is sent for it.
  virtual void end_claims(errc, const std::string& why, time_point now, base::event_queue&) = 0;
  virtual bool is_dispatching() const = 0;  // a claim's sink is being called
};

}  // namespace holdfast::mysql
