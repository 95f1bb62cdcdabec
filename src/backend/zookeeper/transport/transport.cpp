#include "backend/zookeeper/transport/transport.hpp"

#include <algorithm>
#include <utility>

#include "base/fail.hpp"
#include "base/log.hpp"

namespace holdfast::zookeeper {

using core::event_queue;
using core::failure;

// One connection, from connect() until its stream has reported that it is closed.
struct transport::connected_stream final : core::stream_events {
  connected_stream(transport& t, channel c) noexcept : home(t), of(c) {}
  void on_open() override {
    home.handle(*this, [this](time_point now, event_queue& e) {
      home.was_reached_ = true;
      home.session_.opened(of, now, e);
    });
  }
  void on_bytes(std::span<const std::byte> bytes) override {
    home.handle(*this,
                [&](time_point now, event_queue& e) { home.session_.received(of, bytes, now, e); });
  }
  void on_closed(failure why) override;

  transport& home;
  const channel of;
  std::unique_ptr<core::stream> stream;
};

transport::transport(core::environment& env, const endpoint& where, session_user& user)
    : env_(env),
      where_(where),
      user_(user),
      session_(*this, where),
      alarm_(env.make_alarm(*this, "holdfast-zk")),
      loop_(env.make_loop(*this, core::driven_by::thread, "holdfast-zk-io")) {
  if (!loop_)
    core::fail(errc::unsupported, "open", "this environment has no network", {}, where.text);
}

transport::~transport() { stop(); }

void transport::stop() noexcept {
  {
    const std::lock_guard guard(mutex_);
    is_stopped_ = true;  // what comes from here on finds no loop
  }
  alarm_.reset();  // the last that may use the loop
  loop_.reset();
  const std::lock_guard guard(mutex_);
  current_ = {};
  streams_.clear();
}

void transport::forked() noexcept {
  forked_.store(true, std::memory_order_relaxed);
  loop_->forked();
}

// Runs an event with the mutex held; then writes, logs and dispatches.
template <class Event>
void transport::run(Event event) {
  event_queue events;
  std::vector<std::string> warnings;
  {
    const time_point now = env_.now();
    const std::lock_guard guard(mutex_);
    if (is_stopped_) return;
    event(now, events);
    write_out();
    if (call_ && now >= call_->until)
      end_call({errc::unavailable, session_.last_failure().text.empty()
                                       ? "no session within the op-timeout"
                                       : session_.last_failure().text});
    warnings.swap(warnings_);
  }
  for (const std::string& line : warnings) core::log(log_level::warning, line);
  events.dispatch();  // the last thing: the client may be gone then
}

template <class Event>
void transport::handle(connected_stream& from, Event event) {
  run([&](time_point now, event_queue& events) {
    if (current_[static_cast<std::size_t>(from.of)].get() == &from) event(now, events);
  });
}

void transport::connected_stream::on_closed(failure why) {
  std::shared_ptr<connected_stream> last;  // ends after the mutex is released
  transport& t = home;
  t.run([&](time_point now, event_queue& events) {
    const auto found = std::ranges::find(t.streams_, this, &std::shared_ptr<connected_stream>::get);
    if (found == t.streams_.end()) return;
    last = std::move(*found);
    t.streams_.erase(found);
    auto& current = t.current_[static_cast<std::size_t>(of)];
    if (current.get() != this) return;
    current.reset();
    const bool is_hopeless = why.code == errc::refused || why.code == errc::bad_option;
    if (is_hopeless && t.call_ && !t.call_->for_the_end) t.end_call(why);
    t.session_.closed(of, std::move(why), now, events);
  });
}

bool transport::connect(channel c, const core::address& where, failure& why) {
  disconnect(c);
  if (is_stopped_) {
    why = {errc::closed, "the client was closed"};
    return false;
  }
  auto made = std::make_shared<connected_stream>(*this, c);
  std::optional<core::tls_terms> tls = where_.tls;
  if (tls && tls->host.empty()) tls->host = where.host;
  try {
    made->stream = loop_->connect(where, tls ? &*tls : nullptr, *made);
  } catch (const std::system_error& failed) {
    why = core::shortage_of(failed);
    return false;
  }
  streams_.push_back(made);
  current_[static_cast<std::size_t>(c)] = std::move(made);
  return true;
}

void transport::disconnect(channel c) noexcept {
  const auto gone = std::exchange(current_[static_cast<std::size_t>(c)], nullptr);
  if (gone) gone->stream->abort();
}

void transport::wake_by(time_point t) {
  if (t >= alarm_at_ || is_stopped_) return;
  if (alarm_->set(t)) alarm_at_ = t;
}

void transport::on_alarm(time_point) {
  if (is_forked()) return;
  run([this](time_point now, event_queue& events) {
    alarm_at_ = core::never;
    session_.on_alarm(now, events);
    if (call_) wake_by(call_->until);
  });
}

void transport::flush() noexcept {
  if (is_forked()) return;
  const std::lock_guard guard(mutex_);
  if (!is_stopped_) write_out();
}

void transport::write_out() noexcept {
  for (const channel c : {channel::session, channel::mode}) {
    std::string& out = session_.out(c);
    const auto& to = current_[static_cast<std::size_t>(c)];
    if (out.empty() || !to) continue;
    to->stream->write(std::as_bytes(std::span(out)));
    out.clear();
  }
}

void transport::request_flush(bool at_once) noexcept {
  if (loop_ && !is_forked()) loop_->request_flush(at_once);
}

void transport::on_attached(bool is_new, time_point now, event_queue& events) {
  user_.on_attached(is_new, now, events);
  if (call_ && !call_->for_the_end) end_call({});
}

void transport::on_session_lost(const failure& why, event_queue& events) {
  if (!session_.is_closing())
    warnings_.push_back("the session at " + where_.text +
                        " is lost, and what it held: " + why.text);
  user_.on_session_lost(why, events);
}

// Where no server can be reached at all, opening does not wait for one.
void transport::on_down(const failure& why, time_point, event_queue&) {
  if (was_reached_ || !call_ || call_->for_the_end) return;
  if (++failures_ >= where_.servers.size()) end_call(why);
}

void transport::on_ended(const failure& why, event_queue&) {
  if (call_) end_call(call_->for_the_end ? failure{} : why);
}

void transport::wait(waiting_call& w, std::stop_token stop) {
  const std::stop_callback on_stop(std::move(stop), [&] {
    const std::lock_guard guard(mutex_);
    if (call_ == &w) end_call({errc::canceled, "it was stopped"});
  });
  w.parker.park();
}

void transport::end_call(failure why) {
  waiting_call& w = *std::exchange(call_, nullptr);
  w.why = std::move(why);
  w.parker.signal();
}

void transport::open(std::stop_token stop) {
  waiting_call w;
  w.until = core::saturating_add(env_.now(), where_.op_timeout);
  run([&](time_point now, event_queue&) {
    call_ = &w;
    session_.open(now);
    wake_by(w.until);
    if (call_ && alarm_at_ == core::never)
      end_call({errc::unavailable, "no thread can be started to end the wait in time: raise the "
                                   "limit of processes (ulimit -u)"});
  });
  wait(w, std::move(stop));
  if (w.why.code) throw lock_error(w.why.code, {"open", {}, where_.text, w.why.text, {}});
}

bool transport::close(time_point until) {
  if (is_forked()) return false;
  waiting_call w;
  w.until = until;
  w.for_the_end = true;
  run([&](time_point now, event_queue& events) {
    call_ = &w;
    session_.close(now, events);
    if (call_) wake_by(until);
  });
  wait(w, {});
  const std::lock_guard guard(mutex_);
  return session_.where() == session::state::ended;
}

}  // namespace holdfast::zookeeper
