// An operator's query: requests over the session whose answers are collected, each awaited for the
// op-timeout.
#pragma once
#include <algorithm>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "backend/zookeeper/layouts/error_text.hpp"
#include "backend/zookeeper/transport/replies.hpp"
#include "backend/zookeeper/transport/reply_handler.hpp"
#include "backend/zookeeper/transport/requests.hpp"
#include "backend/zookeeper/transport/transport.hpp"
#include "base/environment.hpp"
#include "base/event_queue.hpp"
#include "claim/admin_query.hpp"

namespace holdfast::zookeeper {

// An admin query that waits for the deletion of a node, with a timeout of its own. All calls with
// the transport's mutex held.
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

struct query_context {
  transport& over;
  node_waits& waits;
  duration op_timeout{};  // of each answer
};

// Answered in time, if need be before its last reply.
template <class T>
class node_query : public reply_handler, protected claims::admin_query<T>, private node_wait {
 public:
  node_query(const query_context& c, seam::result_handler<T>& to) noexcept
      : claims::admin_query<T>(to), over_(c.over), waits_(c.waits), op_timeout_(c.op_timeout) {}

  void start() {
    transport& t = over_;  // another thread may dispatch the answer and end this
    base::event_queue events;
    {
      const std::lock_guard guard(t.mutex());
      const time_point now = t.env().now();
      waits_.add(*this);
      send_first(now);
      if (awaited_ == 0) finish(events);
    }
    t.request_flush(true);
    events.dispatch();
  }

 protected:
  virtual void send_first(time_point now) = 0;
  // The `at`-th answer, in the order of sending; may send more. An error is no failure by itself.
  virtual void read(std::size_t at, const reply&, time_point now) = 0;

  void send(opcode op, std::string body, time_point now, std::string watched = {}) {
    if (over_.of_session().submit(*this, op, std::move(body), now, std::move(watched))) {
      ++awaited_;
      set_time(now);
    } else {
      this->fail({errc::closed, "the client was closed"});
    }
  }
  // Later requests then see earlier changes, whichever server they use.
  void sync(const std::string& path, time_point now) { send(opcode::sync, path_body(path), now); }
  void list(const std::string& path, time_point now) {
    send(opcode::get_children2, watched_path_body(path, false), now);
  }
  void look(const std::string& path, time_point now, bool watches = false) {
    send(opcode::get_data, watched_path_body(path, watches), now, watches ? path : std::string());
  }
  // For something other than a reply, and for however long. end_hold() is the last thing that its
  // caller does.
  void hold() noexcept {
    ++awaited_;
    is_on_hold_ = true;
  }
  void end_hold(time_point now, base::event_queue& events) {
    is_on_hold_ = false;
    end_await(now, events);
  }
  node_waits& waits() noexcept { return waits_; }
  void wake_by(time_point t) { over_.tick_by(t); }
  base::environment& env() const noexcept { return over_.env(); }

 private:
  void on_reply(const reply& r, const reply_context& c) override {
    if (!has_reported_ && !this->has_failed()) read(answered_, r, c.now);
    ++answered_;
    end_await(c.now, c.events);
  }
  void on_cut(bool, const reply_context& c) override {
    if (!has_reported_) this->fail({errc::unavailable, "the connection was lost"});
    end_await(c.now, c.events);
  }
  void end_await(time_point now, base::event_queue& events) {
    if (--awaited_ == 0) return finish(events);
    set_time(now);
  }
  void set_time(time_point now) {
    until = is_on_hold_ ? base::never : base::saturating_add(now, op_timeout_);
    over_.tick_by(until);
  }

  // node_wait
  void on_changed(bool, time_point, base::event_queue&) override {}
  void on_time(time_point, base::event_queue& events) override {
    const std::string& last = over_.of_session().last_failure().text;
    this->fail({errc::unavailable, last.empty() ? "no answer within the op-timeout" : last});
    report(events);
  }
  void on_closed(base::event_queue& events) override {
    if (!has_reported_) this->fail({errc::closed, "the client was closed"});
    report(events);
  }

  void report(base::event_queue& events) {
    waits_.remove(*this);
    if (std::exchange(has_reported_, true)) return;
    events.post(*this, base::claim_event::wanted);
  }
  void finish(base::event_queue& events) {
    report(events);
    events.post(*this, base::claim_event::ended);
  }
  void on_event(base::claim_event event) override {
    event == base::claim_event::ended ? (void)this->retire() : this->deliver();
  }

  transport& over_;
  node_waits& waits_;
  const duration op_timeout_;
  std::size_t awaited_ = 0, answered_ = 0;
  bool is_on_hold_ = false;
  bool has_reported_ = false;  // the caller may be gone
};

}  // namespace holdfast::zookeeper
