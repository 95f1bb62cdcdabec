// The connections to one sentinel: one to ask it for the master, one that hears when it announces
// another. Both are driven by the client's own loop, whether or not a caller waits.
#pragma once
#include <array>
#include <functional>
#include <memory>
#include <string>

#include "backend/redis/topologies/sentinel/sentinel_votes.hpp"
#include "backend/redis/transport/side_connection_owner.hpp"
#include "backend/redis/transport/subscriptions.hpp"

namespace holdfast::redis {

class sentinel_link final : private side_connection_owner, private message_handler {
 public:
  class listener {  // called with the reactor's mutex held
   public:
    // It has answered, or cannot be asked any more.
    virtual void on_reported(time_point now, base::event_queue&) = 0;
    virtual void on_switch(time_point now) = 0;  // it announces another master

   protected:
    ~listener() = default;
  };

  // `name`: of the master. It outlives this, as the reactor and the listener do.
  sentinel_link(io::client_reactor&, endpoint, bool is_in_url, const std::string& name, listener&);

  // All with the reactor's mutex held.
  void ask(time_point now);  // for all that it knows of the master, unless it is being asked
  void on_alarm(time_point now, base::event_queue&);
  void write(std::unique_lock<std::mutex>&) noexcept;
  const sentinel_state& state() const noexcept { return state_; }
  const base::address& where() const noexcept { return endpoint_.where; }
  // It has answered or failed since it was made.
  bool has_been_tried() const noexcept { return state_.answer || state_.fault.code; }
  bool has_failed_for_good() const noexcept { return asks_.has_failed_for_good(); }

 private:
  enum class question : unsigned char { id, masters, others, replicas, epoch, master };
  static constexpr std::size_t questions = 6;

  // side_connection_owner
  bool may_open(connection&, time_point) override { return true; }
  bool accepts(connection&, base::failure&, time_point, base::event_queue&) override {
    return true;
  }
  void on_ready(connection&, time_point now, base::event_queue&) override;
  void on_message(std::string_view channel, std::string_view payload, time_point now,
                  base::event_queue& events) override {
    channels_.on_message(channel, payload, now, events);
  }
  void on_down(connection&, const base::failure&, loss, time_point, base::event_queue&) override;
  std::shared_ptr<io::attached_stream> connect(connection&, base::failure& why) override;

  // message_handler
  void on_subscribed(time_point now, base::event_queue&) override { listener_.on_switch(now); }
  void on_message(std::string_view, time_point now, base::event_queue&) override {
    listener_.on_switch(now);
  }

  void request(question, time_point now);
  void on_answered(question, const value&, const reply_context&);

  const endpoint endpoint_;
  const std::string& name_;
  listener& listener_;
  subscriptions channels_;
  connection asks_, hears_;
  std::array<reply_function, questions> replies_;
  sentinel_state state_;
  sentinel_answer pending_;
  bool is_asking_ = false;
};

}  // namespace holdfast::redis
