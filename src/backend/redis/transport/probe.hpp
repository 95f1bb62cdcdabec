// A connection that is made by name now and then, asks the server who it is, and ends: a client
// whose connections all stand learns that the name leads to another server.
#pragma once
#include <functional>

#include "backend/redis/transport/side_connection_owner.hpp"

namespace holdfast::redis {

class probe final : private side_connection_owner {
 public:
  using answer = std::function<void(const server_identity&, time_point now, base::event_queue&)>;

  probe(io::client_reactor&, const endpoint&, answer, subscriptions&);

  // All with the reactor's mutex held.
  void start(time_point now);                           // unless one is under way
  void start_anew(time_point now, base::event_queue&);  // also then
  void on_alarm(time_point now, base::event_queue& events) { connection_.on_alarm(now, events); }
  connection& line() noexcept { return connection_; }  // never ready
  bool has_unattended_replies() const noexcept { return connection_.has_unattended_replies(); }

 private:
  bool may_open(connection&, time_point) override { return is_wanted_; }
  bool accepts(connection&, base::failure& why, time_point, base::event_queue&) override;
  void on_ready(connection&, time_point, base::event_queue&) override {}
  void on_down(connection&, const base::failure&, loss, time_point, base::event_queue&) override;
  std::shared_ptr<io::attached_stream> connect(connection&, base::failure& why) override;

  const endpoint& endpoint_;
  const answer answer_;
  connection connection_;
  bool is_wanted_ = false;
};

}  // namespace holdfast::redis
