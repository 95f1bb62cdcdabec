// An operator's query of several commands.
#pragma once
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "backend/redis/topologies/topology.hpp"
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
      : claims::admin_query<T>(to), over_(&t), own_errors_(own_errors) {}
  // About one lock, of this key.
  admin_query(const lock_server& s, std::string_view key, seam::result_handler<T>& to,
              std::span<const error_meaning> own_errors) noexcept
      : claims::admin_query<T>(to),
        over_(&s.over),
        others_(s.of_others),
        key_(key),
        own_errors_(own_errors) {}

  void start() {
    io::client_reactor& r =
        over_->reactor();  // another thread may dispatch the answer and end this
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
  // All is asked once more, at another server: what was read before counts no more.
  virtual void begin_again() {}
  virtual bool is_failure(const value& v) const { return v.is(value::kind::error); }

  // False when there is no connection: nothing more is to be sent then.
  bool send(std::string&& bytes, time_point now, base::event_queue& events) {
    const auto write = [&](request_writer& w) {
      if (asks_) w.plain("ASKING");
      w.out() += bytes;
      w.expect(*this, asks_ ? 2 : 1, now, attended::in_background);
    };
    if (over_->is_ready(lane::commands)) {
      over_->write_commands(write);
      ++awaited_;
      return true;
    }
    over_->open(lane::commands, now);
    this->fail({errc::unavailable, over_->why_not()});
    if (awaited_ == 0) finish(events);
    return false;
  }
  // The same for the command of these words.
  template <class... Words>
  bool ask(time_point now, base::event_queue& events, const Words&... words) {
    std::string bytes;
    append_command(bytes, words...);
    return send(std::move(bytes), now, events);
  }
  void finish(base::event_queue& events) {
    over_->reactor().count(-1, 0);
    events.post(*this, base::claim_event::ended);
  }
  transport& over() const noexcept { return *over_; }
  // In a cluster: keys that are on their way to this server are read here too.
  void ask_for_keys() noexcept { asks_ = true; }
  base::environment& env() const noexcept { return over_->reactor().env(); }

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
  void on_not_executed(not_executed why, const value& v, const reply_context& c) override {
    if (!others_ || why == not_executed::script_missing) return on_reply(v, c);
    --awaited_;
    is_elsewhere_ = true;
    others_->on_redirected(key_, *over_, {why, v.text()}, c.now);
    if (++tries_ == tries_max || why != not_executed::moved)
      this->fail(
          {errc::unavailable, "the slot of this lock is on its way to another server; try again"});
    go_on(c);
  }
  void on_cut(const reply_context& c) override {
    --awaited_;
    this->fail({errc::unavailable, "the connection was lost"});
    go_on(c);
  }
  void go_on(const reply_context& c) {
    if (awaited_ > 0) return;
    if (std::exchange(is_elsewhere_, false) && !this->has_failed()) {
      over_ = &others_->node_of(key_);
      begin_again();
      return send_next(c.now, c.events);
    }
    this->has_failed() ? finish(c.events) : on_all_read(c.now, c.events);
  }

  // It takes a few round trips to learn where the slot is.
  static constexpr int tries_max = 1000;

  transport* over_;
  topology* const others_ = nullptr;
  const std::string key_;
  int tries_ = 0;
  bool is_elsewhere_ = false, asks_ = false;
  const std::span<const error_meaning> own_errors_;
  std::size_t awaited_ = 0;
};

// For the holders of a lock by its name, or of all with names that begin so.
enum class query_scope : unsigned char { one_lock, all_that_begin_so };

// A question about one lock that its server answers with yes or no.
class decision_query final : public admin_query<bool> {
 public:
  using writer = std::function<void(std::string&, std::string_view stamp)>;  // of that server
  // Nothing: the server has more to do, and is asked again.
  using reader = std::function<std::optional<bool>(const value&)>;
  decision_query(const lock_server& s, std::string_view key, writer w, reader r,
                 seam::decision_handler& to, std::span<const error_meaning> own_errors)
      : admin_query(s, key, to, own_errors), write_(std::move(w)), read_(std::move(r)) {}

 private:
  void send_next(time_point now, base::event_queue& events) override {
    std::string bytes;
    write_(bytes, over().server_stamp());
    send(std::move(bytes), now, events);
  }
  void read(const value& v) override { decision_ = read_(v); }
  void on_all_read(time_point now, base::event_queue& events) override {
    if (!decision_) return send_next(now, events);
    result = *decision_;
    finish(events);
  }

  const writer write_;
  const reader read_;
  std::optional<bool> decision_;
};

}  // namespace holdfast::redis
