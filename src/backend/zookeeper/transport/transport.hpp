// A session over real connections: one mutex, one alarm, one loop that blocked callers drive. While
// none does, a thread of the library's drives it. A caller that is stopped while it drives (by a
// signal's handler, by a debugger) reads nothing: once a server has not answered in time, the next
// connection belongs to a loop with a thread of its own. So no thread of the program stops a
// renewal for longer than a third of the session's time-out.
#pragma once
#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "backend/zookeeper/transport/session.hpp"
#include "base/log.hpp"
#include "base/network.hpp"
#include "base/parker.hpp"
#include "seam/backend.hpp"

namespace holdfast::zookeeper {

struct endpoint : ensemble {           // what is connected to
  std::optional<core::tls_terms> tls;  // host empty: that of each server
  std::string chroot;     // the part of the tree that is used, without a '/' at its end; "": all
  duration op_timeout{};  // of opening
  std::string text;       // the URL without secrets
};

// The layout above. All calls with the transport's mutex held.
class session_user {
 public:
  virtual void on_attached(bool is_new, time_point now, core::event_queue&) = 0;
  virtual void on_deadline(time_point deadline, core::event_queue&) = 0;
  virtual void on_doubtful(core::event_queue&) = 0;
  virtual void on_session_lost(const core::failure&, core::event_queue&) = 0;
  virtual void on_watch(const watch_event&, time_point now, core::event_queue&) = 0;
  virtual void on_down(const core::failure&, time_point, core::event_queue&) {}  // as of its owner
  virtual void on_ended(const core::failure&, core::event_queue&) {}
  virtual void on_tick(time_point, core::event_queue&) {}  // at, or soon after, a tick_by()

 protected:
  ~session_user() = default;
};

class transport final : private session_owner, private core::loop_user, private core::alarm_target {
 public:
  // Throws lock_error (unsupported): the environment has no network. `where` outlives it.
  transport(core::environment&, const endpoint& where, session_user&);
  ~transport();

  // Without the mutex. Waits until a session is attached and the node of the chroot was seen, at
  // most for the op-timeout. Throws lock_error: unavailable, refused (also: there is no such node),
  // bad_option (a file of the tls_terms), canceled.
  void open(std::stop_token = {});
  // Closes the session. True: the server has confirmed it.
  bool close(time_point until);
  void stop() noexcept;  // no event comes any more, and nothing is sent; before the user ends
  void forked() noexcept;
  bool is_forked() const noexcept { return forked_.load(std::memory_order_relaxed); }

  std::mutex& mutex() noexcept { return mutex_; }
  // With the mutex. What was submitted is written by request_flush(), or by the next event.
  session& of_session() noexcept { return session_; }
  core::environment& env() override { return env_; }
  // The pause before the next attempt to connect ends then at the latest.
  void hurry(time_point by) { session_.hurry(by); }
  void tick_by(time_point t) { wake_by(t); }
  core::reach read_reach() const;

  // Without the mutex, from any thread.
  void request_flush(bool at_once) noexcept;
  bool is_out() const noexcept { return is_out_.load(std::memory_order_relaxed); }
  core::caller_driver* driver() noexcept { return loop_->driver(); }  // of callers that block

 private:
  struct connected_stream;
  class chroot_reply;
  struct waiting_call {  // a thread that opens or closes
    core::parker parker;
    time_point until = core::never;
    bool for_the_end = false;
    core::failure why;
  };

  // session_owner
  bool connect(channel, const core::address&, core::failure& why) override;
  void disconnect(channel) noexcept override;
  void wake_by(time_point) override;
  void on_attached(bool is_new, time_point now, core::event_queue& events) override;
  void on_deadline(time_point deadline, core::event_queue& events) override {
    user_.on_deadline(deadline, events);
  }
  void on_doubtful(core::event_queue& events) override { user_.on_doubtful(events); }
  void on_session_lost(const core::failure&, core::event_queue&) override;
  void on_watch(const watch_event& e, time_point now, core::event_queue& events) override {
    user_.on_watch(e, now, events);
  }
  void on_down(const core::failure&, time_point now, core::event_queue&) override;
  void on_ended(const core::failure&, core::event_queue&) override;

  // loop_user, alarm_target
  void flush() noexcept override;
  // A session is always read from: the server sends events unasked, and may close it.
  bool has_pending_replies() const noexcept override {
    return is_open_.load(std::memory_order_relaxed);
  }
  void on_alarm(time_point now) override;

  template <class Event>
  void handle(connected_stream&, Event);
  template <class Event>
  void run(Event, bool writes = false);
  void note_down(const core::failure&, time_point now);
  void note_attached(time_point now);
  core::event_loop& loop_to_connect();
  std::shared_ptr<connected_stream> take_output(std::string& out) noexcept;
  // opening.cpp
  void look_for_chroot(time_point now);
  void wait(waiting_call&, std::stop_token);
  void end_call(core::failure why);
  void abandon(const waiting_call&);
  bool has_session();
  core::failure overdue() const;  // why there is no session by now

  core::environment& env_;
  const endpoint& where_;
  session_user& user_;
  std::mutex mutex_;
  session session_;
  std::array<std::shared_ptr<connected_stream>, 2> current_;  // by channel
  std::vector<std::shared_ptr<connected_stream>> streams_;    // until they have closed
  waiting_call* call_ = nullptr;
  std::unique_ptr<chroot_reply> chroot_reply_;
  unsigned failures_ = 0;     // before the first connection was open
  bool was_reached_ = false;  // a server, ever
  bool is_stopped_ = false;
  bool is_alarm_ = false;    // session_.on_alarm() runs
  bool is_overdue_ = false;  // the last connection was given up because no answer came
  bool is_writing_ = false;  // a thread does, with the mutex released
  std::string writing_;      // its bytes
  std::atomic<bool> is_open_{false};
  std::atomic<bool> forked_{false};
  std::atomic<bool> is_out_{false};  // the connection was lost, and none is attached
  time_point out_since_ = core::never;
  std::uint64_t reconnects_ = 0;
  bool was_attached_ = false;
  bool is_reached_ = false;     // by the connection that was made last
  core::failure last_failure_;  // of a connection
  core::failure last_telling_;  // of one that had reached a server: it tells more
  time_point alarm_at_ = core::never;
  std::vector<std::string> warnings_;  // for the log, once the mutex is released
  std::unique_ptr<core::alarm> alarm_;
  std::unique_ptr<core::event_loop> loop_, own_loop_;     // gone first
  std::atomic<core::event_loop*> also_flushed_{nullptr};  // own_loop_, while it has the connection
};

// Runs an event with the mutex held; then logs and dispatches. What is to be written then is left
// to the thread that drives the loop, unless the event `writes`.
template <class Event>
void transport::run(Event event, bool writes) {
  core::event_queue events;
  std::vector<std::string> warnings;
  {
    const time_point now = env_.now();
    const std::lock_guard guard(mutex_);
    if (is_stopped_) return;
    event(now, events);
    if (call_ && now >= call_->until) end_call(overdue());
    warnings.swap(warnings_);
  }
  if (writes) request_flush(true);
  for (const std::string& line : warnings) core::log(log_level::warning, line);
  events.dispatch();  // the last thing: the client may be gone then
}

}  // namespace holdfast::zookeeper
