// Reports the state of one transport's connection for commands to a topology that looks for
// masters. Sends nothing.
#pragma once
#include "backend/redis/transport/request_source.hpp"

namespace holdfast::redis {

class commands_watch final : public request_source {
 public:
  class listener {  // called with the reactor's mutex held
   public:
    virtual void on_commands_ready(time_point now) = 0;
    virtual void on_commands_lost(time_point now) = 0;
    virtual void on_commands_silent(time_point now) = 0;
    virtual void on_commands_refused(time_point /*now*/) {}

   protected:
    ~listener() = default;
  };

  explicit commands_watch(listener& to) noexcept : to_(to) {}

 private:
  void write_requests(lane, request_writer&) override {}
  void on_ready(lane purpose, time_point now, base::event_queue&) override {
    if (purpose == lane::commands) to_.on_commands_ready(now);
  }
  void on_down(lane purpose, const base::failure&, loss, time_point now,
               base::event_queue&) override {
    if (purpose == lane::commands) to_.on_commands_lost(now);
  }
  void on_silent(lane purpose, time_point now) override {
    if (purpose == lane::commands) to_.on_commands_silent(now);
  }
  void on_requests_refused(time_point now) override { to_.on_commands_refused(now); }
  void on_tick(time_point, base::event_queue&) override {}
  bool is_in_use() const noexcept override { return false; }
  listener& to_;
};

}  // namespace holdfast::redis
