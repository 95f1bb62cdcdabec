// A layout: which keys, scripts and messages stand for a lock at a server. A client has one. It
// owns its claims and sends for them over the transports of a topology.
//
// Beginning and end: the constructor draws what it needs at random and knows no server yet;
// attach() gives it the topology; detach() takes that away once the group is stopped.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "backend/redis/examination/required_command.hpp"
#include "backend/redis/topologies/topology.hpp"
#include "seam/backend.hpp"

namespace holdfast::redis {

class layout : public request_source {
 public:
  virtual ~layout() = default;

  virtual const core::capabilities& can() const noexcept = 0;
  virtual std::span<const script> scripts() const noexcept = 0;  // outlive the layout
  virtual std::string name_fault(std::string_view name) const = 0;
  virtual std::unique_ptr<core::claim> open(std::string_view name, core::claim_sink&) = 0;
  virtual bool can_lock_all(std::span<const std::string_view>) const { return false; }
  virtual void inspect(std::string_view prefix, core::holders_handler&) = 0;
  virtual void holders(std::string_view name, core::holders_handler&) = 0;
  virtual void break_lock(std::string_view name, std::string_view seen,
                          core::decision_handler&) = 0;
  virtual void write_guarded(const core::guarded_write&, core::decision_handler& to) {
    to.on_failed({errc::unsupported, "this layout keeps no values; use layout=string"});
  }

  // Beyond what every connection needs; an operator's examination asks for it.
  virtual layout_needs needs() const { return {}; }

  // All with the group's mutex held.
  virtual void attach(topology&) = 0;
  virtual void detach() noexcept = 0;
  // A caller's time-out is near: what was planned for later is done now.
  virtual void hurry(time_point now) = 0;
  // The client ends: what may be left at the server is withdrawn once more.
  virtual void withdraw_all(time_point now) = 0;
  // Ends what waits for an answer; nothing more is sent for it.
  virtual void end_claims(errc, const std::string& why, time_point now, core::event_queue&) = 0;
  virtual bool is_dispatching() const = 0;  // a claim's sink is being called
};

}  // namespace holdfast::redis
