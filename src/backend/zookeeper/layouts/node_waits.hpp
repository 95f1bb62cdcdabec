// Admin queries that wait for the deletion of a node, each with its own timeout.
#pragma once
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/zookeeper/transport/replies.hpp"
#include "base/environment.hpp"
#include "base/event_queue.hpp"

namespace holdfast::zookeeper {

// All calls with the transport's mutex held.
class node_wait {
 public:
  // The watch on the node fired: it is to be set again where the node has not ended.
  virtual void on_changed(bool has_ended, base::time_point now, base::event_queue&) = 0;
  virtual void on_time(base::time_point now, base::event_queue&) = 0;
  virtual void on_closed(base::event_queue&) = 0;  // nothing comes any more

  std::string awaited_node;  // its path; empty: only the time is waited for
  base::time_point until = base::never;

 protected:
  ~node_wait() = default;
};

class node_waits {
 public:
  void add(node_wait& w) { all_.push_back(&w); }
  void remove(node_wait& w) noexcept { std::erase(all_, &w); }

  void on_watch(const watch_event& e, base::time_point now, base::event_queue& events) {
    each([&](const node_wait& w) { return w.awaited_node == e.path; },
         [&](node_wait& w) { w.on_changed(e.kind == event_kind::deleted, now, events); });
  }
  void on_tick(base::time_point now, base::event_queue& events) {
    each([&](const node_wait& w) { return w.until <= now; },
         [&](node_wait& w) { w.on_time(now, events); });
  }
  base::time_point next() const noexcept {
    base::time_point out = base::never;
    for (const node_wait* w : all_) out = std::min(out, w->until);
    return out;
  }
  void close(base::event_queue& events) {
    for (node_wait* w : std::exchange(all_, {})) w->on_closed(events);
  }

 private:
  template <class Which, class Act>
  void each(Which which, Act act) {
    const std::vector<node_wait*> now = all_;  // one that is called may remove itself
    for (node_wait* w : now)
      if (which(*w)) act(*w);
  }

  std::vector<node_wait*> all_;
};

}  // namespace holdfast::zookeeper
