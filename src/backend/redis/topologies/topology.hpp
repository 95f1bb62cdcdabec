// The servers of a client, and what the client as a whole can do with them.
#pragma once
#include <holdfast/finding.hpp>

#include <span>
#include <string_view>
#include <vector>

#include "backend/redis/transport/transport.hpp"

namespace holdfast::redis {

class topology {
 public:
  virtual ~topology() = default;
  virtual std::span<transport* const> nodes() noexcept = 0;
  virtual transport& node_of(std::string_view key) noexcept = 0;  // the server that has this key

  // Of a topology whose nodes come and go, and keys with them. Called with the reactor's mutex
  // held.
  class observer {
   public:
    virtual void on_new_node(transport&) = 0;
    virtual void on_keys_moved(time_point now, base::event_queue&) = 0;  // node_of() has changed

   protected:
    ~observer() = default;
  };
  virtual bool has_moving_keys() const noexcept { return false; }
  virtual void observe(observer&) {}  // before it is opened
  // `from` has not executed a request for this key.
  virtual void on_redirected(std::string_view /*key*/, const transport& /*from*/,
                             const redirection&, time_point) {}
  // Those that have keys.
  virtual std::vector<transport*> with_keys() { return {nodes().begin(), nodes().end()}; }

  // With the reactor's mutex held.
  virtual void open(time_point now) {
    for (transport* t : nodes()) t->open(lane::commands, now);
  }
  virtual bool is_open() const noexcept = 0;
  // Why it will never be open, or, when its time is over, why it is not. Code {}: it may be yet.
  virtual base::failure why_not_open(bool is_overdue) const = 0;
  virtual seam::connection_status status() const = 0;
  // What it knows of other servers than its nodes, for an operator's diagnosis.
  virtual std::vector<finding> findings() const { return {}; }
  // Whether status() would report trouble; with any lock held.
  virtual bool is_unavailable() const noexcept = 0;
};

// For a question about one lock.
struct lock_server {
  transport& over;      // that has the lock
  topology* of_others;  // by which another one is found; null: no other one can have it
};

}  // namespace holdfast::redis
