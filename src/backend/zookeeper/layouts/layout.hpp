// A layout: which nodes stand for a lock in the tree. A client has one. It owns its claims and
// sends for them over the session.
//
// Beginning and end: the constructor knows no session yet; attach() gives it the transport;
// detach() takes that away once the transport has stopped.
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "backend/zookeeper/transport/transport.hpp"
#include "seam/backend.hpp"

namespace holdfast::zookeeper {

class layout : public session_user {
 public:
  virtual ~layout() = default;

  virtual const core::capabilities& can() const noexcept = 0;
  virtual std::string name_fault(std::string_view name) const = 0;
  virtual std::unique_ptr<core::claim> open(std::string_view name, core::claim_sink&) = 0;
  virtual void inspect(std::string_view prefix, core::holders_handler&) = 0;
  virtual void holders(std::string_view name, core::holders_handler&) = 0;
  virtual void break_lock(std::string_view name, std::string_view seen,
                          core::decision_handler&) = 0;

  // As of the backend; only where a holder's node has a name of its own. Else a check of the path
  // lets the write of an old holder pass as soon as the next one holds.
  virtual void write_held(const core::held_write&, core::held_write_handler& to) {
    to.on_failed(
        {errc::unsupported,
         "all holders of this layout have a node of the same name, so no write can be tied "
         "to one of them; use another layout"});
  }

  // All with the transport's mutex held.
  virtual void attach(transport&) = 0;
  virtual void detach() noexcept = 0;
  // Ends what waits for an answer; nothing more is sent for it.
  virtual void end_claims(errc, const std::string& why, time_point now, core::event_queue&) = 0;
  virtual bool is_dispatching() const = 0;  // a claim's sink is being called
};

}  // namespace holdfast::zookeeper
