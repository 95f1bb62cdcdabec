// One connection to the server: opened, greeted, kept open. Passive, under the reactor's mutex: its
// owner decides what is sent over it.
//
//   state      | event                        | next
//   -----------+------------------------------+------------------------------------------------
//   down       | open()                       | connecting
//   connecting | the stream is open           | greeting: the handshake begins
//   greeting   | the server is introduced     | greeting, if the owner accepts it; else down
//   greeting   | the handshake is done        | ready; the owner is notified
//   greeting   | it fails                     | down; permanently if the server rejects us
//   any        | end()                        | down; open() again after a pause
//   any        | closed, silent for too long, | down: what was not answered is cut; open() again
//              | not RESP                     | after a doubling pause, or earlier by retry_now()
#pragma once
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "backend/redis/transport/endpoint.hpp"
#include "backend/redis/transport/handshake.hpp"
#include "backend/redis/transport/reply_handler.hpp"
#include "backend/redis/transport/resp.hpp"
#include "backend/redis/transport/script_cache.hpp"
#include "base/event_queue.hpp"
#include "base/network.hpp"
#include "base/ring.hpp"
#include "io/reactor/attached_stream.hpp"

namespace holdfast::redis {

enum class attended {
  by_callers,
  in_background
};  // whether a caller who blocks relies on the reply

struct expected_reply {
  reply_handler* to = nullptr;  // null: it has passed others
  time_point sent{};
  std::uint64_t first = 0;    // its number among the values of the connection
  std::uint32_t replies = 1;  // that are still to come; the last one counts
  std::uint16_t script = script_cache::none;
  bool is_unattended = false;
};
static_assert(sizeof(expected_reply) == 32);

class connection;

enum class loss : unsigned char {  // of a connection
  in_use,                          // it was open, or has been opening for too long
  not_reached,                     // there is nothing to connect to
  refused,                         // rejected by the server; another attempt fails too
};

class connection_owner {  // called with the reactor's mutex held
 public:
  // False: not now; the owner calls open() once it may.
  virtual bool may_open(connection&, time_point now) = 0;
  // Whether the server that this connection has reached will do; else why not. Does not end this
  // connection itself.
  virtual bool accepts(connection&, base::failure& why, time_point now, base::event_queue&) = 0;
  // See reply_context.
  virtual bool lanes_agree() const noexcept = 0;
  // The server has become a replica: it has refused a request that a caller waits for.
  virtual void on_demoted(time_point now, base::event_queue&) = 0;
  virtual void on_ready(connection&, time_point now, base::event_queue&) = 0;
  // Earlier knowledge about the data is void: called before the reply that shows this.
  virtual void on_data_in_doubt() = 0;
  // The server does not know a script that was called.
  virtual void on_script_missing(std::uint16_t) = 0;
  virtual void on_message(std::string_view channel, std::string_view payload, time_point now,
                          base::event_queue&) = 0;
  // The server has ended the subscription to a sharded channel unasked.
  virtual void on_unsubscribed(std::string_view, time_point, base::event_queue&) {}
  // After all that was not answered was cut.
  virtual void on_down(connection&, const base::failure&, loss, time_point now,
                       base::event_queue&) = 0;
  virtual void on_silent(connection&, time_point now) = 0;  // much is awaited, nothing comes
  virtual void on_heard(connection&, time_point now) = 0;   // it is not silent any more
  // Whether replies that do not count at once have to wait until they are released.
  virtual bool holds_back(connection&) noexcept { return false; }
  virtual void on_held(connection&, time_point) {}
  virtual std::string why_silent(const connection&) const { return "the server does not answer"; }
  // Lives until it is closed. Null, with the reason: this process has no descriptor or thread left.
  virtual std::shared_ptr<io::attached_stream> connect(connection&, base::failure& why) = 0;
  virtual void wake_by(time_point) = 0;  // on_alarm() is due then
  virtual base::environment& env() = 0;

 protected:
  ~connection_owner() = default;
};

class connection final : public io::stream_user {
 public:
  enum class state : unsigned char { down, connecting, greeting, ready };

  connection(connection_owner&, const endpoint&, lane, subscriptions&);

  // All with the reactor's mutex held.
  void open(time_point now);  // unless it is open, or pauses
  bool is_ready() const noexcept { return state_ == state::ready; }
  bool is_down() const noexcept { return state_ == state::down; }
  // Not ready yet, but the owner may have accepted the server.
  bool is_introduced() const noexcept { return state_ == state::greeting && server().is_known(); }
  lane purpose() const noexcept { return lane_; }
  std::string& out() noexcept { return out_; }
  // In the order of what is written. Of several replies, the last one counts.
  void expect(reply_handler&, std::uint32_t replies, time_point sent,
              attended = attended::by_callers, std::uint16_t script = script_cache::none);
  // The same for a question about the replies before it; each value of the answer counts at once.
  void ask(reply_handler&, std::uint32_t values, time_point sent);
  bool is_idle() const noexcept { return in_flight_.empty(); }
  // Some reply to what was written since it was idle does not count at once.
  bool awaits_what_is_held() const noexcept;
  void on_alarm(time_point now, base::event_queue&);
  void retry_now(time_point by);  // the pause before the next connection ends then at the latest
  const std::shared_ptr<io::attached_stream>& stream() const noexcept { return stream_; }
  bool may_write() const noexcept { return state_ >= state::greeting; }
  // Nothing that was sent over an earlier connection is executed any more.
  bool no_older_connection_runs() const noexcept { return handshake_.no_older_connection_runs(); }
  const server_identity& server() const noexcept { return handshake_.server(); }
  // Replies that are awaited now prove nothing about locks: another connection has ended.
  void doubt_replies() noexcept { doubted_ = in_flight_.size(); }
  void end(base::failure, time_point now, base::event_queue&);
  // The same, but the next one is opened after a pause: its server is not the right one.
  void reject(base::failure, time_point now, base::event_queue&);
  // The same, and another attempt will fail too.
  void refuse(base::failure, time_point now, base::event_queue&);
  // A reply is held back, and those that follow it and do not count at once; what has come until
  // mark_received() counts after release_marked().
  bool has_held() const noexcept { return is_ready() && reader_->is_kept(); }
  void mark_received() noexcept { marked_ = is_ready() ? reader_->replies() : 0; }
  void release_marked(time_point now, base::event_queue&);
  // A question is not answered yet; and once it is: what came before the answer counts.
  bool is_asking() const noexcept { return is_ready() && answered_ > reader_->replies(); }
  void release_asked(time_point now, base::event_queue&);
  bool was_ready() const noexcept { return was_ready_; }  // before it was lost
  const base::failure& last_failure() const noexcept { return last_failure_; }
  bool will_pass() const noexcept { return is_passing_; }  // the failure: open() tries again
  bool has_failed_for_good() const noexcept {
    return is_down() && last_failure_.code && !will_pass();
  }
  // A reply is awaited for which no caller blocks.
  bool has_unattended_replies() const noexcept {
    return state_ == state::connecting || state_ == state::greeting || unattended_ > 0;
  }
  base::failure too_late(std::string_view bound) const;  // the bound that it has exceeded

  bool writing = false;  // a thread is: it takes along what others add
  std::string spare;     // of that thread; keeps its room

  // io::stream_user
  void on_open(time_point now, base::event_queue&) override;
  void on_bytes(std::span<const std::byte>, time_point now, base::event_queue&) override;
  void on_closed(base::failure, time_point now, base::event_queue&) override;

 private:
  void take_replies(time_point now, base::event_queue&);
  bool take_early(const value&, time_point now, base::event_queue&);
  void release(std::uint64_t up_to, time_point now, base::event_queue&);
  time_point received_at(time_point now) noexcept;  // the reply that for_each() passes on
  bool is_held_back(const expected_reply&) noexcept;
  void on_handshake_reply(const value&, time_point now, base::event_queue&);
  void become_ready(time_point now, base::event_queue&);
  void fail(base::failure, loss, time_point now, base::event_queue&);
  void fail_unreadable(time_point now, base::event_queue&);  // what was received is no reply
  bool handle(const value&, time_point now, base::event_queue&);
  bool take_push(const value&, time_point now, base::event_queue&);
  void on_last_reply(const value&, time_point now, base::event_queue&);
  void pass(const expected_reply&, const value&, const reply_context&);
  // What an error says of the data counts before anything that was granted with it.
  void on_error(const expected_reply&, const value&, const reply_context&);
  void on_introduced(time_point now, base::event_queue&);
  void retry_later(time_point now, bool at_once);
  duration silence_max() const noexcept { return endpoint_.op_timeout / 2; }
  duration silence_noticed() const noexcept { return silence_max() / 2; }

  connection_owner& owner_;
  const endpoint& endpoint_;
  const lane lane_;
  handshake handshake_;
  state state_ = state::down;
  std::shared_ptr<io::attached_stream> stream_;
  std::unique_ptr<reply_reader> reader_;
  std::string out_;
  std::uint64_t marked_ = 0, released_ = 0;  // of the values that were received
  std::uint64_t asked_ = 0, answered_ = 0;   // the last question: the values before and with it
  struct arrival {
    std::uint64_t values = 0;  // that had come by then
    time_point at{};
  };
  base::ring<arrival> arrivals_;  // of what is not handled yet
  base::ring<expected_reply> in_flight_;
  std::uint64_t expected_ = 0;  // values, of all requests
  unsigned unattended_ = 0;     // of these
  time_point began_{};          // to connect
  time_point retry_at_ = base::never;
  unsigned attempts_ = 0;
  std::size_t doubted_ = 0;  // of those in flight, the first ones
  bool is_silent_ = false;   // a reply is overdue, which the owner knows
  bool is_passing_ = false;  // the last failure: another attempt may succeed
  bool was_ready_ = false;   // before the last failure
  std::string aborted_;      // why the server will not do the transaction it is being sent
  base::failure last_failure_;
};

// One thread at a time writes to a connection; it takes along what others add meanwhile.
// collect(connection&) adds what has come together. Releases the mutex while it writes.
template <class Collect>
void write_out(connection& c, std::unique_lock<std::mutex>& lock, Collect collect) noexcept {
  if (c.writing) return;
  c.writing = true;
  for (;;) {
    collect(c);
    if (!c.may_write() || c.out().empty()) break;
    c.spare.clear();
    c.spare.swap(c.out());
    const std::shared_ptr<io::attached_stream> over = c.stream();
    lock.unlock();
    over->write(c.spare);
    lock.lock();
  }
  c.writing = false;
}

}  // namespace holdfast::redis
