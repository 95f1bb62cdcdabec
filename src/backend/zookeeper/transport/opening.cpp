// Opens and closes a transport: the waits of the calling thread.
#include <utility>

#include "backend/zookeeper/transport/chroot.hpp"
#include "backend/zookeeper/transport/chroot_reply.hpp"
#include "base/fail.hpp"

namespace holdfast::zookeeper {

using core::event_queue;
using core::failure;

namespace {

constexpr std::chrono::seconds closing_bound{1};  // of a session that is of no use

}  // namespace

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

void transport::on_attached(bool is_new, time_point now, event_queue& events) {
  is_overdue_ = false;
  note_attached(now);
  user_.on_attached(is_new, now, events);
  if (opened_) return;
  where_.chroot.empty() ? end_opening({}) : look_for_chroot(now);
}

// After a sync: a server that follows may not know yet of a node that was made a moment ago.
void transport::look_for_chroot(time_point now) {
  std::string sync, exists;
  append_path(sync, where_.chroot);
  append_watched_path(exists, where_.chroot, false);
  chroot_reply_->expect();
  session_.submit(*chroot_reply_, opcode::sync, std::move(sync), now);
  session_.submit(*chroot_reply_, opcode::exists, std::move(exists), now);
}

void transport::chroot_reply::on_reply(const reply& r, const reply_context&) {
  const bool is_last = --awaited_ == 0;
  if (!is_last || home_.opened_) return;
  if (r.is_ok()) return home_.end_opening({});
  if (r.is(error::no_node))
    return home_.end_opening({errc::refused, "there is no node " + home_.where_.chroot +
                                                 ", under which the locks are to be: make it with "
                                                 "ZooKeeper's zkCli.sh (" +
                                                 creation_of(home_.where_.chroot) +
                                                 "), or correct the path of the URL"});
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
  first_session w(*this, core::saturating_add(env().now(), where_.op_timeout));
  reactor_.run([&](time_point now, event_queue&) {
    reactor_.begin(w);
    is_open_ = true;
    session_.open(now);
  });
  const bool may_block = driver() != nullptr;
  may_block ? reactor_.wait(w, std::move(stop)) : reactor_.abandon(w);
  const bool has_session = end_opening_with(w.why());
  if (!w.why().code) return;
  if (has_session) (void)close(core::saturating_add(env().now(), closing_bound));
  throw lock_error(w.why().code, {"open", {}, where_.text, w.why().text});
}

// Also where the wait was given up.
bool transport::end_opening_with(const failure& why) {
  const std::lock_guard guard(mutex());
  end_opening(why);
  return session_.is_attached();
}

core::failure transport::overdue() const {
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
