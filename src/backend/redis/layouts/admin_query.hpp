// An operator's question of several commands.
#pragma once
#include <mutex>
#include <string>
#include <utility>

#include "backend/redis/layouts/string/codec.hpp"
#include "backend/redis/link.hpp"

namespace holdfast::redis {

// It ends itself when its answer is told, which is when nothing that it sent is awaited any more.
class question : public reply_handler, protected core::event_source {
 public:
  explicit question(link& l) noexcept : over(l) {}
  virtual ~question() = default;

  void start() {
    link& l = over;  // another thread may tell the answer and end this
    core::event_queue events;
    {
      const std::lock_guard guard(l.mutex());
      const time_point now = l.env().now();
      l.count({.waiting = 1}, now);
      ask(now, events);
    }
    l.request_flush(true);
    events.dispatch();
  }

 protected:
  virtual void ask(time_point now, core::event_queue&) = 0;
  virtual void heard(const value&) = 0;                            // no failure
  virtual void all_heard(time_point now, core::event_queue&) = 0;  // finishes, or asks on
  virtual void tell_answer() = 0;
  virtual bool is_failure(const value& v) const { return v.is(value::kind::error); }

  // False when there is no connection: nothing more is to be sent then.
  bool send(std::string&& bytes, time_point now, core::event_queue& events) {
    if (over.ask_special(*this, std::move(bytes), now)) {
      ++awaited_;
      return true;
    }
    fail({errc::unavailable, over.why_not()});
    if (awaited_ == 0) finish(now, events);
    return false;
  }
  void fail(core::failure f) {  // the first counts
    if (!why.code) why = std::move(f);
  }
  void finish(time_point now, core::event_queue& events) {
    over.count({.waiting = -1}, now);
    events.post(*this, core::claim_event::ended);
  }

  link& over;
  core::failure why;

 private:
  void on_reply(const value& v, const reply_context& c) override {
    --awaited_;
    if (is_failure(v)) fail({read_error(v, {}).why, explain_reply(v.text())});
    if (!why.code) heard(v);
    go_on(c.now, c.events);
  }
  void on_not_executed(const reply_context& c) override { on_cut(c); }
  void on_cut(const reply_context& c) override {
    --awaited_;
    fail({errc::unavailable, "the connection was lost"});
    go_on(c.now, c.events);
  }
  void go_on(time_point now, core::event_queue& events) {
    if (awaited_ > 0) return;
    why.code ? finish(now, events) : all_heard(now, events);
  }
  void on_event(core::claim_event) override {
    tell_answer();
    retire();
  }
  void on_retired() noexcept override { delete this; }

  std::size_t awaited_ = 0;
};

}  // namespace holdfast::redis
