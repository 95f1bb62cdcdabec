// A layout: which keys, scripts and messages stand for a lock at a server. A client has one, or one
// for each kind of lock (layout_family.hpp). It owns its claims and sends for them over the
// transports of a topology.
//
// Beginning and end: the constructor draws what it needs at random and knows no server yet;
// attach() gives it the topology; detach() takes that away once the reactor is stopped.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "backend/redis/layouts/required_command.hpp"
#include "backend/redis/topologies/topology.hpp"
#include "seam/lock_store.hpp"

namespace holdfast::redis {

class layout : public core::lock_store, public request_source {
 public:
  // Beyond what every connection needs; an operator's diagnosis asks for it.
  virtual layout_needs needs() const { return {}; }

  // All with the reactor's mutex held.
  virtual void attach(topology&) = 0;
  virtual void detach() noexcept = 0;
  // A caller's timeout is near: what was planned for later is done now.
  virtual void retry_now(time_point now) = 0;
  // The client ends: what may be left at the server is withdrawn once more.
  virtual void withdraw_all(time_point now) = 0;
  virtual bool is_settled() const noexcept = 0;  // nothing has to be withdrawn any more
  // Ends what waits for an answer; nothing more is sent for it.
  virtual void end_claims(errc, const std::string& why, time_point now, core::event_queue&) = 0;
  virtual bool is_dispatching() const = 0;  // a claim's sink is being called
};

}  // namespace holdfast::redis
