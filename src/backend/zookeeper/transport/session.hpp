// One session at an ensemble, over one connection at a time: attached, kept alive, attached again
// elsewhere, replaced when it is over, closed. Passive, under the transport's mutex.
//
//   state      | event                          | next
//   -----------+--------------------------------+----------------------------------------------
//   idle       | open()                         | connecting
//   connecting | the stream is open             | attaching: ConnectRequest
//   attaching  | a session, new or ours         | attached: auth, watches, a write; then requests
//   attaching  | expired, and it was ours       | connecting: it is lost, a new one is made
//   attaching  | a session to be closed         | retiring: closeSession
//   attached   | a third of T is near, rule A   | draining: nothing is sent
//   draining   | the last reply                 | connecting
//   attached,  | the deadline has passed, or    | retiring: it is lost; closeSession
//   draining   | another timeout is negotiated |
//   retiring   | answered, or the end           | connecting: a new one is made
//   any        | close(), attached              | closing: closeSession
//   closing    | answered                       | ended
//   any        | refused for good               | ended
//   any other  | the connection is lost, silent | waiting, none at first; then connecting at the
//              | or out of order, not reached   | next server
#pragma once
#include <deque>
#include <string>

#include "backend/zookeeper/transport/replies.hpp"
#include "backend/zookeeper/transport/reply_handler.hpp"
#include "backend/zookeeper/transport/requests.hpp"
#include "backend/zookeeper/transport/server_list.hpp"
#include "backend/zookeeper/transport/session_deadline.hpp"
#include "backend/zookeeper/transport/watch_registry.hpp"
#include "base/event_queue.hpp"
#include "base/failure.hpp"
#include "base/network.hpp"

namespace holdfast::zookeeper {

enum class attach_to : unsigned char {
  any,     // any server; the session is renewed by new connections
  leader,  // the leader where it is found; each address is one server's own, without a balancer
};

// The connections of a session: one for its requests, and a short one that asks a server's mode.
enum class channel : unsigned char { session, mode };

// The services of the transport for a session, and the reports of a session to its layout. All
// calls with the transport's mutex held.
class session_host {
 public:
  // Replaces the connection of this channel. False, with the reason: none can be made.
  virtual bool connect(channel, const base::address&, base::failure& why) = 0;
  virtual void disconnect(channel) noexcept = 0;  // aborts; harmless without one
  virtual void wake_by(base::time_point) = 0;     // session::on_alarm() is due then
  virtual base::environment& env() = 0;

  // Requests are answered from here on. `is_new`: nothing of an earlier session is there.
  virtual void on_attached(bool is_new, base::time_point now, base::event_queue&) = 0;
  // The current deadline. Small extensions are not reported.
  virtual void on_deadline(base::time_point deadline, base::event_queue&) = 0;
  virtual void on_doubtful(base::event_queue&) = 0;  // until on_deadline(); once for each doubt
  // The session is over, or not believed any more: nothing is held. Another one is opened.
  virtual void on_session_lost(const base::failure&, base::event_queue&) = 0;
  virtual void on_watch(const watch_event&, const base::time_point now, base::event_queue&) = 0;
  // An attempt failed, or the connection was lost.
  virtual void on_down(const base::failure&, base::time_point now, base::event_queue&) = 0;
  // For good: closed as asked for, or (with a code) refused.
  virtual void on_ended(const base::failure&, base::event_queue&) = 0;

 protected:
  ~session_host() = default;
};

struct ensemble {  // what a zookeeper: URL says of it
  std::vector<base::address> servers;
  duration session_timeout{};  // that is asked for
  duration connect_timeout{};  // from the beginning to connect to the session's answer
  duration retry_base{};       // the first pause after all servers failed, which then doubles
  attach_to attach = attach_to::any;
  std::string credentials;  // "user:password" for digest authentication; empty: none
};

class session {
 public:
  enum class state : unsigned char {
    idle,
    waiting,
    connecting,
    attaching,
    attached,
    draining,
    retiring,
    closing,
    ended
  };

  static constexpr std::string_view silent_server =
      "the server is connected to and does not answer: it has no quorum, is overloaded, or is not "
      "a ZooKeeper server; check host, port and TLS";

  session(session_host&, const ensemble&);

  void open(time_point now);  // once
  void close(time_point now, base::event_queue&);
  void retry_now(time_point by);  // the pause before the next attempt ends then at the latest

  // A request; `body` without its frame and header. It is sent at once, or when the session is
  // attached again. `watched`: the path on which it sets a watch. False: the session has ended.
  bool submit(reply_handler& to, opcode, std::string body, time_point now,
              std::string watched = {});

  state where() const noexcept { return state_; }
  bool is_attached() const noexcept { return state_ == state::attached; }
  std::int64_t id() const noexcept { return id_; }  // 0: none
  bool is_closing() const noexcept { return closes_; }
  const session_deadline& deadline() const noexcept { return deadline_; }
  const base::failure& last_failure() const noexcept { return last_failure_; }
  server_mode mode() const noexcept { return mode_; }

  // For the owner: the bytes to be written, and the events of the current connections.
  std::string& out(channel c) noexcept { return c == channel::session ? out_ : mode_out_; }
  void opened(channel, time_point now, base::event_queue&);
  void received(channel, std::span<const std::byte>, time_point now, base::event_queue&);
  void closed(channel, base::failure, time_point now, base::event_queue&);
  void on_alarm(time_point now, base::event_queue&);

 private:
  struct sent_request {
    reply_handler* to = nullptr;  // null: one of the session's own
    std::int32_t number = 0;
    opcode op{};
    session_deadline::write_mark mark;
    std::string watched;
  };
  struct queued_request {
    reply_handler* to;
    opcode op;
    std::string body, watched;
  };
  struct identity {
    std::int64_t id = 0;
    std::string password;
  };

  // The connection.
  void connect(time_point now);
  void begin_attaching(time_point now);
  void on_attaching_frame(std::span<const std::byte>, time_point now, base::event_queue&);
  void on_attached_frame(const connect_response&, time_point now, base::event_queue&);
  void become_attached(bool is_new, time_point now, base::event_queue&);
  void retire(base::failure why, time_point now, base::event_queue&);
  void send_close(state next, time_point now);
  void reconnect(time_point now);
  void fail(base::failure, time_point now, base::event_queue&);
  void cut(time_point now, base::event_queue&);
  void cut_queue(time_point now, base::event_queue&, std::size_t count);
  void lose(const base::failure&, time_point now, base::event_queue&);
  void end(base::failure, base::event_queue&);
  bool is_connected() const noexcept { return state_ >= state::attached && state_ < state::ended; }

  // Requests and replies (session_requests.cpp).
  void send(queued_request, time_point now);
  void send_queued(time_point now);
  void cut_unwanted(time_point now, base::event_queue&);
  void expect_own(opcode, std::int32_t number, time_point now);
  void send_renewing_write(time_point now);
  void send_ping(time_point now);
  void on_frame(std::span<const std::byte>, time_point now, base::event_queue&);
  void on_reply(const reply&, time_point now, base::event_queue&);
  void on_own_reply(const sent_request&, base::event_queue&);
  void on_retiring_frame(const reply&, time_point now, base::event_queue&);
  void ask_mode();
  void on_mode_bytes(std::span<const std::byte>);
  void report_deadline(base::event_queue&);
  void note_write(const sent_request&, const reply&, time_point now, base::event_queue&);
  void finish_draining(time_point now);
  std::int32_t next_number() noexcept;

  // Timed actions.
  void schedule(time_point now);
  void note_doubt(base::event_queue&);
  bool check_lapse(time_point now, base::event_queue&);
  void check_silence(time_point now, base::event_queue&);
  bool is_ping_due(time_point now) const noexcept;
  void check_renewal(time_point now);
  time_point renewal_due() const noexcept;
  time_point doubt_due() const noexcept;
  duration attach_max() const noexcept;
  duration silence_max() const noexcept;
  time_point silent_since() const noexcept;

  session_host& owner_;
  const ensemble& ensemble_;
  server_list servers_;
  state state_ = state::idle;
  bool closes_ = false;   // close() was called
  std::int64_t id_ = 0;   // 0: a new session is to be made
  std::string password_;  // of it
  identity retired_;      // a session that is to be closed first
  session_deadline deadline_;
  time_point reported_deadline_{};  // the last that the owner has heard of
  bool is_doubtful_ = false;
  std::int64_t last_zxid_ = 0;  // the largest seen; kept for the next session
  time_point began_{};          // to connect
  time_point attach_sent_{};
  time_point replied_at_{};  // the last reply
  time_point retry_at_ = base::never;
  std::int32_t last_number_ = 0;
  unsigned pings_ = 0;   // in flight
  bool renews_ = false;  // a write that renews is in flight
  frame_reader frames_;
  std::deque<sent_request> in_flight_;
  std::deque<queued_request> queue_;
  watch_registry watches_;
  std::string out_, mode_out_, mode_answer_;
  server_mode mode_ = server_mode::unknown;
  base::failure last_failure_;
};

}  // namespace holdfast::zookeeper
