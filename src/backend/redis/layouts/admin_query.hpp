// An operator's query of several commands.
#pragma once
#include <mutex>
#include <string>
#include <utility>

#include "backend/redis/transport/error_text.hpp"
#include "backend/redis/transport/transport.hpp"
#include "claim/admin_query.hpp"

namespace holdfast::redis {

// Answered when no reply to it is awaited any more.
template <class T>
class admin_query : public reply_handler, protected claims::admin_query<T> {
 public:
  // `own_errors`: those of the layout's scripts.
  admin_query(transport& t, seam::result_handler<T>& to,
              std::span<const error_meaning> own_errors = {}) noexcept
      : claims::admin_query<T>(to), over_(t), own_errors_(own_errors) {}

  void start() {
    io::client_reactor& r = over_.reactor();  // another thread may dispatch the answer and end this
    base::event_queue events;
    {
      const std::lock_guard guard(r.mutex());
      r.count(1, 0);
      send_next(r.env().now(), events);
    }
    r.request_flush(true);
    events.dispatch();
  }

 protected:
  virtual void send_next(time_point now, base::event_queue&) = 0;
  virtual void read(const value&) = 0;  // no failure
  // Finishes, or sends more.
  virtual void on_all_read(time_point now, base::event_queue&) = 0;
  virtual bool is_failure(const value& v) const { return v.is(value::kind::error); }

  // False when there is no connection: nothing more is to be sent then.
  bool send(std::string&& bytes, time_point now, base::event_queue& events) {
    const auto write = [&](request_writer& w) { w.out() += bytes; };
    if (over_.submit(*this, now, write)) {
      ++awaited_;
      return true;
    }
    this->fail({errc::unavailable, over_.why_not()});
    if (awaited_ == 0) finish(events);
    return false;
  }
  void finish(base::event_queue& events) {
    over_.reactor().count(-1, 0);
    events.post(*this, base::claim_event::ended);
  }
  base::environment& env() const noexcept { return over_.reactor().env(); }

 private:
  void on_reply(const value& v, const reply_context& c) override {
    --awaited_;
    if (is_failure(v)) {
      const error_meaning* const m = meaning_of(v.text(), own_errors_);
      this->fail({m ? m->why : errc::refused, explain(v.text(), own_errors_)});
    }
    if (!this->has_failed()) read(v);
    go_on(c);
  }
  void on_cut(const reply_context& c) override {
    --awaited_;
    this->fail({errc::unavailable, "the connection was lost"});
    go_on(c);
  }
  void go_on(const reply_context& c) {
    if (awaited_ > 0) return;
    this->has_failed() ? finish(c.events) : on_all_read(c.now, c.events);
  }

  transport& over_;
  const std::span<const error_meaning> own_errors_;
  std::size_t awaited_ = 0;
};

}  // namespace holdfast::redis
