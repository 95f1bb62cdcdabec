// A layout: which nodes stand for a lock in the tree. A client has one, or one for each kind of
// lock (layout_family.hpp). It owns its claims and sends for them over the session.
//
// Beginning and end: the constructor knows no session yet; attach() gives it the transport;
// detach() takes that away once the transport has stopped.
#pragma once
#include <string>

#include "backend/zookeeper/transport/transport.hpp"
#include "seam/lock_store.hpp"

namespace holdfast::zookeeper {

class layout : public seam::lock_store, public session_listener {
 public:
  // All with the transport's mutex held.
  virtual void attach(transport&) = 0;
  virtual void detach() noexcept = 0;
  // Ends what waits for an answer; nothing more is sent for it.
  virtual void end_claims(errc, const std::string& why, time_point now, base::event_queue&) = 0;
  virtual bool is_dispatching() const = 0;  // a claim's sink is being called
};

}  // namespace holdfast::zookeeper
