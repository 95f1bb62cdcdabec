// The services of the transport for a session, and the reports of a session to its layout.
#pragma once
#include "backend/zookeeper/transport/replies.hpp"
#include "base/event_queue.hpp"
#include "base/failure.hpp"
#include "base/network.hpp"

namespace holdfast::zookeeper {

// The connections of a session: one for its requests, and a short one that asks a server's mode.
enum class channel : unsigned char { session, mode };

// All calls with the transport's mutex held.
class session_host {
 public:
  // Replaces the connection of this channel. False, with the reason: none can be made.
  virtual bool connect(channel, const base::address&, base::failure& why) = 0;
  virtual void disconnect(channel) noexcept = 0;  // aborts; harmless without one
  virtual void wake_by(base::time_point) = 0;     // session::on_alarm() is due then
  virtual base::environment& env() = 0;

  // Requests are answered from here on. `is_new`: nothing of an earlier session is there.
  virtual void on_attached(bool is_new, base::time_point now, base::event_queue&) = 0;
  // The current deadline. Small extensions are not reported.
  virtual void on_deadline(base::time_point deadline, base::event_queue&) = 0;
  virtual void on_doubtful(base::event_queue&) = 0;  // until on_deadline(); once for each doubt
  // The session is over, or not believed any more: nothing is held. Another one is opened.
  virtual void on_session_lost(const base::failure&, base::event_queue&) = 0;
  virtual void on_watch(const watch_event&, const base::time_point now, base::event_queue&) = 0;
  // An attempt failed, or the connection was lost.
  virtual void on_down(const base::failure&, base::time_point now, base::event_queue&) = 0;
  // For good: closed as asked for, or (with a code) refused.
  virtual void on_ended(const base::failure&, base::event_queue&) = 0;

 protected:
  ~session_host() = default;
};

}  // namespace holdfast::zookeeper
