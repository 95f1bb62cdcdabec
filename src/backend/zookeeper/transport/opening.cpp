// How a transport is opened and closed: what the calling thread waits for.
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

void transport::on_attached(bool is_new, time_point now, event_queue& events) {
  is_overdue_ = false;
  note_attached(now);
  user_.on_attached(is_new, now, events);
  if (!call_ || call_->for_the_end) return;
  where_.chroot.empty() ? end_call({}) : look_for_chroot(now);
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
  if (!is_last || !home_.call_ || home_.call_->for_the_end) return;
  if (r.is_ok()) return home_.end_call({});
  if (r.is(error::no_node))
    return home_.end_call({errc::refused, "there is no node " + home_.where_.chroot +
                                              ", under which the locks are to be: make it with "
                                              "ZooKeeper's zkCli.sh (" +
                                              creation_of(home_.where_.chroot) +
                                              "), or correct the path of the URL"});
  home_.end_call({errc::refused, "the server does not show the node " + home_.where_.chroot +
                                     " (its error " +
                                     std::to_string(static_cast<int>(r.head.code)) + ')'});
}

// Where no server can be reached at all, opening does not wait for one.
void transport::on_down(const failure& why, time_point now, event_queue& events) {
  is_overdue_ = is_alarm_ && session_.id() != 0;
  note_down(why, now);
  user_.on_down(why, now, events);
  if (was_reached_ || !call_ || call_->for_the_end) return;
  if (++failures_ >= where_.servers.size()) end_call(why);
}

void transport::on_ended(const failure& why, event_queue& events) {
  is_open_.store(false, std::memory_order_relaxed);
  user_.on_ended(why, events);
  if (call_) end_call(call_->for_the_end ? failure{} : why);
}

void transport::wait(waiting_call& w, std::stop_token stop) {
  const std::stop_callback on_stop(std::move(stop), [&] {
    const std::lock_guard guard(mutex_);
    if (call_ == &w) end_call({errc::canceled, "it was stopped"});
  });
  driver()->run_until_signalled(w.parker);
}

void transport::abandon(const waiting_call& w) {
  const std::lock_guard guard(mutex_);
  if (call_ == &w) call_ = nullptr;
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
    is_open_.store(true, std::memory_order_relaxed);
    session_.open(now);
    wake_by(w.until);
    if (call_ && alarm_at_ == core::never)
      end_call({errc::unavailable, "no thread can be started to end the wait in time: raise the "
                                   "limit of processes (ulimit -u)"});
  });
  if (!driver()) return abandon(w);  // this thread is not to block
  wait(w, std::move(stop));
  if (!w.why.code) return;
  if (has_session()) (void)close(core::saturating_add(env_.now(), closing_bound));
  throw lock_error(w.why.code, {"open", {}, where_.text, w.why.text, {}});
}

bool transport::has_session() {
  const std::lock_guard guard(mutex_);
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
  waiting_call w;
  w.until = until;
  w.for_the_end = true;
  const auto end = [&](time_point now, event_queue& events) {
    call_ = &w;
    session_.close(now, events);
    if (call_) wake_by(until);
  };
  run(end, true);
  const bool may_block = driver() != nullptr;
  if (may_block) {
    wait(w, {});
  } else {  // the request to close is sent, and not waited for
    abandon(w);
    flush();
  }
  const std::lock_guard guard(mutex_);
  const session::state now_in = session_.where();
  return now_in == session::state::ended || (!may_block && now_in == session::state::closing);
}

}  // namespace holdfast::zookeeper
