// An operator's query: requests over the session whose answers are collected.
#pragma once
#include <mutex>
#include <string>
#include <utility>

#include "backend/zookeeper/layouts/error_text.hpp"
#include "backend/zookeeper/layouts/request_bodies.hpp"
#include "backend/zookeeper/transport/reply_handler.hpp"
#include "backend/zookeeper/transport/transport.hpp"

namespace holdfast::zookeeper {

// Ends itself when its answer is dispatched, which is when no reply to it is awaited any more.
class node_query : public reply_handler, protected core::event_source {
 public:
  explicit node_query(transport& t) noexcept : over_(t) {}
  virtual ~node_query() = default;

  void start() {
    transport& t = over_;  // another thread may dispatch the answer and end this
    core::event_queue events;
    {
      const std::lock_guard guard(t.mutex());
      const time_point now = t.env().now();
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
  virtual void report() = 0;

  void send(opcode op, std::string body, time_point now) {
    if (over_.of_session().submit(*this, op, std::move(body), now)) {
      ++awaited_;
    } else {
      fail({errc::closed, "the client was closed"});
    }
  }
  void list(const std::string& path, time_point now) {
    send(opcode::get_children2, watched_path_body(path, false), now);
  }
  void look(const std::string& path, time_point now) {
    send(opcode::get_data, watched_path_body(path, false), now);
  }
  void fail(core::failure f) {  // the first counts
    if (!why.code) why = std::move(f);
  }
  core::environment& env() const noexcept { return over_.env(); }

  core::failure why;  // code {}: it has not failed

 private:
  void on_reply(const reply& r, const reply_context& c) override {
    --awaited_;
    if (!why.code) read(answered_, r, c.now);
    ++answered_;
    if (awaited_ == 0) finish(c.events);
  }
  void on_cut(bool, const reply_context& c) override {
    --awaited_;
    fail({errc::unavailable, "the connection was lost"});
    if (awaited_ == 0) finish(c.events);
  }
  void finish(core::event_queue& events) { events.post(*this, core::claim_event::ended); }
  void on_event(core::claim_event) override {
    report();
    retire();
  }
  void on_retired() noexcept override { delete this; }

  transport& over_;
  std::size_t awaited_ = 0, answered_ = 0;
};

}  // namespace holdfast::zookeeper
