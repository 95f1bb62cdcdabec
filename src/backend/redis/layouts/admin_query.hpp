// An operator's query of several commands.
#pragma once
#include <mutex>
#include <string>
#include <utility>

#include "backend/redis/transport/error_text.hpp"
#include "backend/redis/transport/transport.hpp"

namespace holdfast::redis {

// Ends itself when its answer is dispatched, which is when no reply to it is awaited any more.
class admin_query : public reply_handler, protected core::event_source {
 public:
  // `own_errors`: those of the layout's scripts.
  explicit admin_query(transport& t, std::span<const error_meaning> own_errors = {}) noexcept
      : over_(t), own_errors_(own_errors) {}
  virtual ~admin_query() = default;

  void start() {
    transport_group& g = over_.group();  // another thread may dispatch the answer and end this
    core::event_queue events;
    {
      const std::lock_guard guard(g.mutex());
      g.count(1, 0);
      send_next(g.env().now(), events);
    }
    g.request_flush(true);
    events.dispatch();
  }

 protected:
  virtual void send_next(time_point now, core::event_queue&) = 0;
  virtual void read(const value&) = 0;  // no failure
  // Finishes, or sends more.
  virtual void on_all_read(time_point now, core::event_queue&) = 0;
  virtual void report() = 0;
  virtual bool is_failure(const value& v) const { return v.is(value::kind::error); }

  // False when there is no connection: nothing more is to be sent then.
  bool send(std::string&& bytes, time_point now, core::event_queue& events) {
    const auto write = [&](request_writer& w) { w.out() += bytes; };
    if (over_.submit(*this, now, write)) {
      ++awaited_;
      return true;
    }
    fail({errc::unavailable, over_.why_not()});
    if (awaited_ == 0) finish(events);
    return false;
  }
  void finish(core::event_queue& events) {
    over_.group().count(-1, 0);
    events.post(*this, core::claim_event::ended);
  }
  core::environment& env() const noexcept { return over_.group().env(); }

  core::failure why;  // code {}: it has not failed

 private:
  void fail(core::failure f) {  // the first counts
    if (!why.code) why = std::move(f);
  }
  void on_reply(const value& v, const reply_context& c) override {
    --awaited_;
    if (is_failure(v)) {
      const error_meaning* const m = meaning_of(v.text(), own_errors_);
      fail({m ? m->why : errc::refused, explain(v.text(), own_errors_)});
    }
    if (!why.code) read(v);
    go_on(c);
  }
  void on_not_executed(const reply_context& c) override { on_cut(c); }
  void on_cut(const reply_context& c) override {
    --awaited_;
    fail({errc::unavailable, "the connection was lost"});
    go_on(c);
  }
  void go_on(const reply_context& c) {
    if (awaited_ > 0) return;
    why.code ? finish(c.events) : on_all_read(c.now, c.events);
  }
  void on_event(core::claim_event) override {
    report();
    retire();
  }
  void on_retired() noexcept override { delete this; }

  transport& over_;
  const std::span<const error_meaning> own_errors_;
  std::size_t awaited_ = 0;
};

}  // namespace holdfast::redis
