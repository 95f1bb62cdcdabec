#include "backend/zookeeper/transport/transport.hpp"

#include <algorithm>
#include <utility>

#include "backend/zookeeper/transport/chroot_reply.hpp"
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
      home.is_reached_ = home.is_reached_ || of == channel::session;
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
      chroot_reply_(std::make_unique<chroot_reply>(*this)),
      alarm_(env.make_alarm(*this, "holdfast-zk")),
      loop_(env.make_loop(*this, core::driven_by::callers, "holdfast-zk-io")) {
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
  also_flushed_ = nullptr;
  own_loop_.reset();
  loop_.reset();
  const std::lock_guard guard(mutex_);
  current_ = {};
  streams_.clear();
}

void transport::forked() noexcept {
  forked_.store(true, std::memory_order_relaxed);
  loop_->forked();
  if (own_loop_) own_loop_->forked();
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
    core::event_loop& over = loop_to_connect();
    made->stream = over.connect(where, tls ? &*tls : nullptr, *made);
    over.attend();
  } catch (const std::system_error& failed) {
    why = core::shortage_of(failed);
    return false;
  }
  if (c == channel::session) is_reached_ = false;
  streams_.push_back(made);
  current_[static_cast<std::size_t>(c)] = std::move(made);
  return true;
}

core::event_loop& transport::loop_to_connect() {
  also_flushed_ = nullptr;
  if (!is_overdue_) return *loop_;
  if (!own_loop_) own_loop_ = env_.make_loop(*this, core::driven_by::thread, "holdfast-zk-hold");
  also_flushed_ = own_loop_.get();
  return *own_loop_;
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
  const auto ring = [this](time_point now, event_queue& events) {
    alarm_at_ = core::never;
    is_alarm_ = true;
    session_.on_alarm(now, events);
    is_alarm_ = false;
    user_.on_tick(now, events);
    if (call_) wake_by(call_->until);
  };
  run(ring, true);
}

// One thread at a time writes; it takes along what others add meanwhile.
void transport::flush() noexcept {
  if (is_forked()) return;
  std::unique_lock lock(mutex_);
  if (is_writing_) return;
  is_writing_ = true;
  while (const std::shared_ptr<connected_stream> to = take_output(writing_)) {
    lock.unlock();
    to->stream->write(std::as_bytes(std::span(writing_)));
    lock.lock();
  }
  is_writing_ = false;
}

// Null: nothing is to be written.
std::shared_ptr<transport::connected_stream> transport::take_output(std::string& out) noexcept {
  for (const channel c : {channel::session, channel::mode}) {
    const auto& to = current_[static_cast<std::size_t>(c)];
    if (is_stopped_ || session_.out(c).empty() || !to) continue;
    out.clear();
    out.swap(session_.out(c));
    return to;
  }
  return nullptr;
}

void transport::request_flush(bool at_once) noexcept {
  if (is_forked()) return;
  loop_->request_flush(at_once);
  if (core::event_loop* const own = also_flushed_) own->request_flush(at_once);
}

core::reach transport::read_reach() const {
  core::reach out;
  out.connected = !is_out();
  out.reconnects = reconnects_;
  out.last_failure = last_failure_.text;
  if (is_out()) out.trouble = {errc::unavailable, last_failure_.text};
  return out;
}

// A renewal of the session by a new connection is none of this.
void transport::note_down(const failure& why, time_point now) {
  last_failure_ = why;
  if (is_reached_) last_telling_ = why;
  if (is_out_.exchange(true, std::memory_order_relaxed)) return;
  out_since_ = now;
  if (was_attached_)
    warnings_.push_back("the connection to " + where_.text + " is lost: " + why.text);
}

void transport::note_attached(time_point now) {
  const bool is_again = std::exchange(was_attached_, true);
  if (!is_out_.exchange(false, std::memory_order_relaxed) || !is_again) return;
  ++reconnects_;
  const auto gone = std::chrono::duration_cast<std::chrono::milliseconds>(now - out_since_);
  warnings_.push_back("connected to " + where_.text + " again after " +
                      std::to_string(gone.count()) + " ms");
}

void transport::on_session_lost(const failure& why, event_queue& events) {
  if (!session_.is_closing())
    warnings_.push_back("the session at " + where_.text +
                        " is lost, and what it held: " + why.text);
  user_.on_session_lost(why, events);
}

}  // namespace holdfast::zookeeper
