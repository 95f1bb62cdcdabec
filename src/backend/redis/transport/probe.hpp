// A connection that is made by name now and then, asks the server who it is, and ends: a client
// whose connections all stand learns that the name leads to another server.
#pragma once
#include "backend/redis/transport/connection.hpp"
#include "io/reactor/client_reactor.hpp"

namespace holdfast::redis {

class probe final : private connection_owner {
 public:
  class asker {
   public:
    virtual void on_probed(const server_identity&, time_point now, base::event_queue&) = 0;

   protected:
    ~asker() = default;
  };

  probe(io::client_reactor&, const endpoint&, asker&, subscriptions&);

  // All with the reactor's mutex held.
  void start(time_point now);                           // unless one is under way
  void start_anew(time_point now, base::event_queue&);  // also then
  void on_alarm(time_point now, base::event_queue& events) { connection_.on_alarm(now, events); }
  connection& line() noexcept { return connection_; }  // never ready
  bool has_unattended_replies() const noexcept { return connection_.has_unattended_replies(); }

 private:
  bool may_open(connection&, time_point) override { return is_wanted_; }
  bool accepts(connection&, base::failure& why, time_point, base::event_queue&) override;
  bool lanes_agree() const noexcept override { return true; }
  void on_demoted(time_point, base::event_queue&) override {}
  void on_ready(connection&, time_point, base::event_queue&) override {}
  void on_data_in_doubt() override {}
  void on_script_missing(std::uint16_t) override {}
  void on_message(std::string_view, std::string_view, time_point, base::event_queue&) override {}
  void on_down(connection&, const base::failure&, loss, time_point, base::event_queue&) override;
  void on_silent(connection&, time_point) override {}
  void on_heard(connection&, time_point) override {}
  std::shared_ptr<io::attached_stream> connect(connection&, base::failure& why) override;
  void wake_by(time_point t) override { reactor_.wake_by(t); }
  base::environment& env() override { return reactor_.env(); }

  io::client_reactor& reactor_;
  const endpoint& endpoint_;
  asker& asker_;
  connection connection_;
  bool is_wanted_ = false;
};

}  // namespace holdfast::redis
