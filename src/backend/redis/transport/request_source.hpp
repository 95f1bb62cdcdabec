// What sends over a transport: a layout's node for its server. All calls with the reactor's mutex
// held.
#pragma once
#include "backend/redis/transport/request_writer.hpp"

namespace holdfast::redis {

class request_source {
 public:
  // Called just before a write to a connection that is ready, other than that for messages: what
  // came together meanwhile goes out together, and what was given up is not sent at all. The loop
  // calls it through client_reactor::writer and transport::flush().
  virtual void write_requests(lane, request_writer&) = 0;
  // The handshake is done: older connections are ended, channels are subscribed to.
  virtual void on_ready(lane, time_point now, base::event_queue&) = 0;
  // transport::lanes_agree() again: what waited for that may be sent.
  virtual void on_agreed(time_point) {}
  // After all that was not answered was cut.
  virtual void on_down(lane, const base::failure&, loss, time_point now, base::event_queue&) = 0;
  virtual void on_silent(lane, time_point now) = 0;  // requests stay unanswered
  virtual void on_requests_refused(time_point) {}    // the server does not execute them for now
  // Earlier knowledge about the data is void: called before the reply that shows this.
  virtual void on_data_in_doubt() {}
  virtual void on_tick(time_point now, base::event_queue&) = 0;  // see transport::tick_by()
  virtual bool is_open() const noexcept { return true; }         // requests can be sent
  // Why nothing will ever be sent to this server. Code {}: nothing is known to prevent it.
  virtual base::failure fault() const { return {}; }
  virtual bool is_in_use() const noexcept = 0;  // a claim holds or wants a lock

 protected:
  ~request_source() = default;
};

}  // namespace holdfast::redis
