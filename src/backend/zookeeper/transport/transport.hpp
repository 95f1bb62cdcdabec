// A session over real connections, which blocked callers drive. While none does, a thread of the
// library drives them. A caller that is stopped while it drives (by a signal's handler, by a
// debugger) reads nothing: once a server has not answered in time, the next connection belongs to
// a loop with a thread of its own. So no thread of the program stops a renewal for longer than a
// third of the session's timeout.
#pragma once
#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

#include "backend/zookeeper/transport/session.hpp"
#include "base/log.hpp"
#include "io/reactor/client_reactor.hpp"
#include "seam/connection.hpp"

namespace holdfast::zookeeper {

struct endpoint : ensemble {           // what is connected to
  std::optional<base::tls_terms> tls;  // host empty: that of each server
  std::string chroot;     // the part of the tree that is used, without a '/' at its end; "": all
  duration op_timeout{};  // of opening
  std::string text;       // the URL without secrets
  base::log_sink log;
};

// The layout above. All calls with the transport's mutex held.
class session_listener {
 public:
  virtual void on_attached(bool is_new, time_point now, base::event_queue&) = 0;
  virtual void on_deadline(time_point deadline, base::event_queue&) = 0;
  virtual void on_doubtful(base::event_queue&) = 0;
  virtual void on_session_lost(const base::failure&, base::event_queue&) = 0;
  virtual void on_watch(const watch_event&, time_point now, base::event_queue&) = 0;
  virtual void on_down(const base::failure&, time_point, base::event_queue&) {}  // as of its owner
  virtual void on_ended(const base::failure&, base::event_queue&) {}
  virtual void on_tick(time_point, base::event_queue&) {}  // at, or soon after, a tick_by()

 protected:
  ~session_listener() = default;
};

class transport final : private session_host, private io::reactor_user {
 public:
  // Throws lock_error (unsupported): the environment has no network. `where` outlives it.
  transport(base::environment&, const endpoint& where, session_listener&);
  ~transport();

  // Without the mutex. Waits until a session is attached and the node of the chroot was seen, at
  // most for the op-timeout. Throws lock_error: unavailable, refused (also: there is no such node),
  // bad_option (a file of the tls_terms), canceled.
  void open(std::stop_token = {});
  // Closes the session. True: the server has confirmed it.
  bool close(time_point until);
  // No event comes any more, and nothing is sent. Called before the user ends.
  void stop() noexcept { reactor_.stop(); }
  void forked() noexcept { reactor_.forked(); }
  bool is_forked() const noexcept { return reactor_.is_forked(); }

  std::mutex& mutex() noexcept { return reactor_.mutex(); }
  // With the mutex. What was submitted is written by request_flush(), or by the next event.
  session& of_session() noexcept { return session_; }
  base::environment& env() override { return reactor_.env(); }
  // The pause before the next attempt to connect ends then at the latest.
  void retry_now(time_point by) { session_.retry_now(by); }
  void tick_by(time_point t) { reactor_.wake_by(t); }
  seam::connection_status read_status() const;

  // Without the mutex, from any thread.
  void request_flush(bool at_once) noexcept;
  bool is_unavailable() const noexcept { return is_unavailable_.load(std::memory_order_relaxed); }
  base::caller_driver* driver() noexcept { return reactor_.driver(); }  // of callers that block

 private:
  class chroot_reply;
  class first_session;
  class last_reply;
  struct channel_stream final : io::stream_user {
    channel_stream(transport& t, channel c) noexcept : home(t), of(c) {}
    void on_open(time_point now, base::event_queue&) override;
    void on_bytes(std::span<const std::byte>, time_point now, base::event_queue&) override;
    void on_closed(base::failure, time_point now, base::event_queue&) override;
    transport& home;
    const channel of;
    std::shared_ptr<io::attached_stream> over;  // null: none
  };

  // session_host
  bool connect(channel, const base::address&, base::failure& why) override;
  void disconnect(channel) noexcept override;
  void wake_by(time_point t) override { reactor_.wake_by(t); }
  void on_attached(bool is_new, time_point now, base::event_queue& events) override;
  void on_deadline(time_point deadline, base::event_queue& events) override {
    user_.on_deadline(deadline, events);
  }
  void on_doubtful(base::event_queue& events) override { user_.on_doubtful(events); }
  void on_session_lost(const base::failure&, base::event_queue&) override;
  void on_watch(const watch_event& e, time_point now, base::event_queue& events) override {
    user_.on_watch(e, now, events);
  }
  void on_down(const base::failure&, time_point now, base::event_queue&) override;
  void on_ended(const base::failure&, base::event_queue&) override;

  // io::reactor_user
  void flush(std::unique_lock<std::mutex>&, base::driven_by) noexcept override;
  void on_alarm(time_point now, base::event_queue&) override;
  // A session is always read from: the server sends events unasked, and may close it.
  bool has_unattended_replies() const noexcept override { return is_open_; }

  channel_stream& of(channel c) noexcept { return streams_[static_cast<std::size_t>(c)]; }
  void note_down(const base::failure&, time_point now);
  void note_attached(time_point now);
  std::shared_ptr<io::attached_stream> take_output(std::string& out) noexcept;
  // To open and to close.
  void look_for_chroot(time_point now);
  void end_opening(base::failure why);
  bool end_opening_with(const base::failure& why);
  base::failure overdue() const;  // why there is no session by now

  io::client_reactor reactor_;
  const endpoint& where_;
  session_listener& user_;
  session session_;
  std::array<channel_stream, 2> streams_{channel_stream{*this, channel::session},
                                         channel_stream{*this, channel::mode}};
  std::unique_ptr<chroot_reply> chroot_reply_;
  std::optional<base::failure> opened_;  // how opening has ended; {}: it has not
  unsigned failures_ = 0;                // before the first connection was open
  bool was_reached_ = false;             // a server, ever
  bool is_open_ = false;                 // from open() to the end of the session
  bool is_alarm_ = false;                // session_.on_alarm() runs
  bool is_overdue_ = false;              // the last connection was given up because no answer came
  bool is_writing_ = false;              // a thread does, with the mutex released
  std::string writing_;                  // its bytes
  std::atomic<bool> has_own_loop_{false};    // the connection belongs to the loop with a thread
  std::atomic<bool> is_unavailable_{false};  // the connection was lost, and none is attached
  time_point out_since_ = base::never;
  std::uint64_t reconnects_ = 0;
  bool was_attached_ = false;   // ever: from then on, losses are logged
  bool is_reached_ = false;     // by the connection that was made last
  base::failure last_failure_;  // of a connection
  base::failure last_telling_;  // of one that had reached a server: it tells more
};

}  // namespace holdfast::zookeeper
