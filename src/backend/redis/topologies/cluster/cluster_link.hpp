// A connection to one node of a cluster, to ask it what it knows of all of them. It is driven by
// the client's own loop, whether or not a caller waits.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backend/redis/topologies/cluster/cluster_view.hpp"
#include "backend/redis/transport/side_connection_owner.hpp"
#include "backend/redis/transport/subscriptions.hpp"

namespace holdfast::redis {

class cluster_link final : private side_connection_owner {
 public:
  class listener {  // called with the reactor's mutex held
   public:
    virtual void on_reported(const std::vector<cluster_node>&, time_point now,
                             base::event_queue&) = 0;
    virtual void on_silent_node(time_point now) = 0;  // it cannot be asked now

   protected:
    ~listener() = default;
  };

  // The reactor and the listener outlive it.
  cluster_link(io::client_reactor&, endpoint, listener&);

  // All with the reactor's mutex held.
  void ask(time_point now);                       // unless it is being asked
  void rest(time_point now, base::event_queue&);  // its connection ends; ask() makes another
  void on_alarm(time_point now, base::event_queue& events) { asks_.on_alarm(now, events); }
  void write(std::unique_lock<std::mutex>&) noexcept;
  const base::address& where() const noexcept { return endpoint_.where; }
  // Why it cannot be asked; code {}: it has answered, or has not been tried.
  const base::failure& fault() const noexcept { return fault_; }
  bool has_failed_for_good() const noexcept { return asks_.has_failed_for_good(); }

 private:
  // side_connection_owner
  bool may_open(connection&, time_point) override { return is_wanted_; }
  bool accepts(connection&, base::failure&, time_point, base::event_queue&) override {
    return true;
  }
  void on_ready(connection&, time_point now, base::event_queue&) override { ask(now); }
  void on_down(connection&, const base::failure&, loss, time_point, base::event_queue&) override;
  std::shared_ptr<io::attached_stream> connect(connection&, base::failure& why) override;

  void on_answered(const value&, const reply_context&);

  const endpoint endpoint_;
  listener& listener_;
  subscriptions channels_;  // none
  connection asks_;
  reply_function reply_{std::bind_front(&cluster_link::on_answered, this)};
  base::failure fault_;
  bool is_wanted_ = false, is_asking_ = false, is_resting_ = false;
};

}  // namespace holdfast::redis
