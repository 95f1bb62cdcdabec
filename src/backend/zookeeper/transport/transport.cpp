#include "backend/zookeeper/transport/transport.hpp"

#include <utility>

#include "backend/zookeeper/transport/chroot.hpp"
#include "base/fail.hpp"

namespace holdfast::zookeeper {

using base::event_queue;
using base::failure;

namespace {

constexpr std::chrono::seconds closing_bound{1};  // of a session that is of no use

}  // namespace

// Whether the node of the chroot exists: asked by a sync and an exists when the client opens.
class transport::chroot_reply final : public reply_handler {
 public:
  explicit chroot_reply(transport& t) noexcept : home_(t) {}
  void expect() noexcept { awaited_ = 2; }

 private:
  void on_reply(const reply&, const reply_context&) override;
  void on_cut(bool, const reply_context&) override {}  // asked again once attached again

  transport& home_;
  unsigned awaited_ = 0;
};

class transport::first_session final : public io::blocking_wait {
 public:
  first_session(transport& t, time_point until) noexcept : io::blocking_wait(until), home_(t) {}

 private:
  std::optional<failure> outcome(bool is_overdue) override {
    if (is_overdue) home_.end_opening(home_.overdue());
    return home_.opened_;
  }
  transport& home_;
};

class transport::last_reply final : public io::blocking_wait {
 public:
  last_reply(const session& s, time_point until) noexcept : io::blocking_wait(until), session_(s) {}

 private:
  std::optional<failure> outcome(bool is_overdue) override {
    if (is_overdue || session_.where() == session::state::ended) return failure();
    return std::nullopt;
  }
  const session& session_;
};

transport::transport(base::environment& env, const endpoint& where, session_listener& user)
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

bool transport::connect(channel c, const base::address& where, failure& why) {
  disconnect(c);
  std::optional<base::tls_terms> tls = where_.tls;
  if (tls && tls->host.empty()) tls->host = where.host;
  const auto loop = is_overdue_ ? base::driven_by::thread : base::driven_by::callers;
  of(c).over = reactor_.connect(of(c), where, tls ? &*tls : nullptr, loop, why);
  if (c == channel::session) has_own_loop_ = is_overdue_ && of(c).over;
  if (!of(c).over) {
    if (c == channel::session) last_failure_ = last_telling_ = why;
    return false;
  }
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
void transport::flush(std::unique_lock<std::mutex>& lock, base::driven_by) noexcept {
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

seam::connection_status transport::read_status() const {
  seam::connection_status out{.last_failure = last_failure_.text,
                              .connected = !is_unavailable(),
                              .reconnects = reconnects_};
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

void transport::on_attached(bool is_new, time_point now, event_queue& events) {
  is_overdue_ = false;
  note_attached(now);
  user_.on_attached(is_new, now, events);
  if (opened_) return;
  where_.chroot.empty() ? end_opening({}) : look_for_chroot(now);
}

// After a sync: a server that follows may not know yet of a node that was made a moment ago.
void transport::look_for_chroot(time_point now) {
  chroot_reply_->expect();
  session_.submit(*chroot_reply_, opcode::sync, path_body(where_.chroot), now);
  session_.submit(*chroot_reply_, opcode::exists, watched_path_body(where_.chroot, false), now);
}

void transport::chroot_reply::on_reply(const reply& r, const reply_context&) {
  const bool is_last = --awaited_ == 0;
  if (!is_last || home_.opened_) return;
  if (r.is_ok()) return home_.end_opening({});
  if (r.is(error::no_node))
    return home_.end_opening({errc::refused, "there is no node " + home_.where_.chroot +
                                                 " for the locks; create it, with zkCli.sh: " +
                                                 creation_of(home_.where_.chroot) +
                                                 "; or correct the path of the URL, or leave it "
                                                 "out"});
  if (r.is(error::no_auth))
    return home_.end_opening({errc::refused, "this user may not read the node " +
                                                 home_.where_.chroot +
                                                 ": give the user the rights r and c in its ACL"});
  home_.end_opening({errc::refused, "the server does not show the node " + home_.where_.chroot +
                                        " (its error " +
                                        std::to_string(static_cast<int>(r.head.code)) + ')'});
}

// Where no server can be reached at all, opening does not wait for one.
void transport::on_down(const failure& why, time_point now, event_queue& events) {
  is_overdue_ = is_alarm_ && session_.id() != 0;
  note_down(why, now);
  user_.on_down(why, now, events);
  if (was_reached_ || opened_) return;
  if (++failures_ >= where_.servers.size()) end_opening(why);
}

void transport::on_ended(const failure& why, event_queue& events) {
  is_open_ = false;
  user_.on_ended(why, events);
  end_opening(why);
}

void transport::end_opening(failure why) {
  if (!opened_) opened_ = std::move(why);
}

void transport::open(std::stop_token stop) {
  first_session w(*this, base::saturating_add(env().now(), where_.op_timeout));
  reactor_.run([&](time_point now, event_queue&) {
    reactor_.begin(w);
    is_open_ = true;
    session_.open(now);
  });
  const bool may_block = driver() != nullptr;
  may_block ? reactor_.wait(w, std::move(stop)) : reactor_.abandon(w);
  const bool has_session = end_opening_with(w.why());
  if (!w.why().code) return;
  if (has_session) (void)close(base::saturating_add(env().now(), closing_bound));
  throw lock_error(w.why().code, {"open", {}, where_.text, w.why().text});
}

// Also where the wait was given up.
bool transport::end_opening_with(const failure& why) {
  const std::lock_guard guard(mutex());
  end_opening(why);
  return session_.is_attached();
}

base::failure transport::overdue() const {
  const std::string& last = last_telling_.text.empty() ? last_failure_.text : last_telling_.text;
  if (!last.empty()) return {errc::unavailable, last};
  return {errc::unavailable,
          was_reached_ ? std::string(session::silent_server) : "no session within the op-timeout"};
}

bool transport::close(time_point until) {
  if (is_forked()) return false;
  last_reply w(session_, until);
  const auto end = [&](time_point now, event_queue& events) {
    reactor_.begin(w);
    session_.close(now, events);
    // So that a schedule of the simulator does not depend on whether a thread waits.
    if (session_.where() != session::state::ended) reactor_.wake_by(until);
    if (has_own_loop_) reactor_.request_flush_of_own_loop(true);
  };
  reactor_.run(end, true);
  const bool may_block = driver() != nullptr;
  if (!may_block) reactor_.flush();  // the request to close is sent, and not waited for
  may_block ? reactor_.wait(w) : reactor_.abandon(w);
  const std::lock_guard guard(mutex());
  const session::state now_in = session_.where();
  return now_in == session::state::ended || (!may_block && now_in == session::state::closing);
}

}  // namespace holdfast::zookeeper
