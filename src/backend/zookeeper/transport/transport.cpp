#include "backend/zookeeper/transport/transport.hpp"

#include <utility>

#include "backend/zookeeper/transport/chroot_reply.hpp"

namespace holdfast::zookeeper {

using core::event_queue;
using core::failure;

transport::transport(core::environment& env, const endpoint& where, session_listener& user)
    : reactor_(env, {"holdfast-zk", "holdfast-zk-io", "holdfast-zk-hold"}, where.text),
      where_(where),
      user_(user),
      session_(*this, where),
      chroot_reply_(std::make_unique<chroot_reply>(*this)) {
  const std::lock_guard guard(mutex());
  reactor_.log().write_to(where.log);
  reactor_.add(*this);
}

transport::~transport() { stop(); }

void transport::channel_stream::on_open(time_point now, event_queue& events) {
  home.was_reached_ = true;
  home.is_reached_ = home.is_reached_ || of == channel::session;
  home.session_.opened(of, now, events);
}

void transport::channel_stream::on_bytes(std::span<const std::byte> bytes, time_point now,
                                         event_queue& events) {
  home.session_.received(of, bytes, now, events);
}

void transport::channel_stream::on_closed(failure why, time_point now, event_queue& events) {
  over.reset();
  if (why.code == errc::refused || why.code == errc::bad_option) home.end_opening(why);
  home.session_.closed(of, std::move(why), now, events);
}

bool transport::connect(channel c, const core::address& where, failure& why) {
  disconnect(c);
  std::optional<core::tls_terms> tls = where_.tls;
  if (tls && tls->host.empty()) tls->host = where.host;
  const auto loop = is_overdue_ ? core::driven_by::thread : core::driven_by::callers;
  of(c).over = reactor_.connect(of(c), where, tls ? &*tls : nullptr, loop, why);
  if (c == channel::session) has_own_loop_ = is_overdue_ && of(c).over;
  if (!of(c).over) return false;
  if (c == channel::session) is_reached_ = false;
  return true;
}

void transport::disconnect(channel c) noexcept {
  if (const auto gone = std::exchange(of(c).over, nullptr)) gone->leave();
}

void transport::on_alarm(time_point now, event_queue& events) {
  is_alarm_ = true;
  session_.on_alarm(now, events);
  is_alarm_ = false;
  user_.on_tick(now, events);
  if (has_own_loop_) reactor_.request_flush_of_own_loop(true);
}

// One thread at a time writes; it takes along what others add meanwhile.
void transport::flush(std::unique_lock<std::mutex>& lock, core::driven_by) noexcept {
  if (is_writing_) return;
  is_writing_ = true;
  while (const std::shared_ptr<io::attached_stream> to = take_output(writing_)) {
    lock.unlock();
    to->write(writing_);
    lock.lock();
  }
  is_writing_ = false;
}

// Null: nothing is to be written.
std::shared_ptr<io::attached_stream> transport::take_output(std::string& out) noexcept {
  if (reactor_.is_stopped()) return nullptr;
  for (const channel c : {channel::session, channel::mode}) {
    if (session_.out(c).empty() || !of(c).over) continue;
    out.clear();
    out.swap(session_.out(c));
    return of(c).over;
  }
  return nullptr;
}

void transport::request_flush(bool at_once) noexcept {
  if (is_forked()) return;
  reactor_.request_flush(at_once);
  if (has_own_loop_) reactor_.request_flush_of_own_loop(at_once);
}

core::connection_status transport::read_status() const {
  core::connection_status out;
  out.connected = !is_unavailable();
  out.reconnects = reconnects_;
  out.last_failure = last_failure_.text;
  if (is_unavailable()) out.trouble = {errc::unavailable, last_failure_.text};
  return out;
}

// A renewal of the session by a new connection is none of this.
void transport::note_down(const failure& why, time_point now) {
  last_failure_ = why;
  if (is_reached_) last_telling_ = why;
  if (is_unavailable_.exchange(true, std::memory_order_relaxed)) return;
  out_since_ = now;
  if (was_attached_)
    reactor_.log().add(log_level::warning,
                       "the connection to " + where_.text + " is lost: " + why.text);
}

void transport::note_attached(time_point now) {
  const bool is_again = std::exchange(was_attached_, true);
  if (!is_unavailable_.exchange(false, std::memory_order_relaxed) || !is_again) return;
  ++reconnects_;
  const auto gone = std::chrono::duration_cast<std::chrono::milliseconds>(now - out_since_);
  reactor_.log().add(log_level::warning, "connected to " + where_.text + " again after " +
                                             std::to_string(gone.count()) + " ms");
}

void transport::on_session_lost(const failure& why, event_queue& events) {
  if (!session_.is_closing())
    reactor_.log().add(log_level::warning,
                       "the session at " + where_.text + " is lost, and what it held: " + why.text);
  user_.on_session_lost(why, events);
}

}  // namespace holdfast::zookeeper
