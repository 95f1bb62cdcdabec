// One connection to the server: opened, greeted, kept open. A passive thing under its link's lock:
// the link decides what goes over it, and is told what comes back.
//
//   state      | event                        | next
//   -----------+------------------------------+------------------------------------------------
//   down       | open()                       | connecting
//   connecting | the stream is open           | greeting: AUTH, SELECT, CLIENT SETNAME, CLIENT ID,
//              |                              | INFO server, and then CLIENT KILL of the
//              |                              | predecessor, so that nothing of it runs later
//   greeting   | all is answered              | ready; the link is told
//   greeting   | an error                     | down, for good if the server will not have us
//   any        | closed, silent for too long, | down: what was not answered is cut; open() again
//              | not RESP                     | after a pause that doubles, or earlier by hurry()
#pragma once
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "backend/redis/recipes/protocol.hpp"
#include "backend/redis/settings.hpp"
#include "backend/redis/transport/reply_handler.hpp"
#include "backend/redis/transport/resp.hpp"
#include "base/event_queue.hpp"
#include "base/network.hpp"
#include "base/ring.hpp"

namespace holdfast::redis {

class answerer : public reply_handler {  // asks for itself, not for a claim
 public:
  virtual void answered(const value&, time_point now, time_point sent, core::event_queue&) = 0;
  virtual void cut(time_point now, core::event_queue&) = 0;  // nobody knows whether it was done

  void on_reply(const value& v, const reply_context& c) final {
    answered(v, c.now, c.sent, c.events);
  }
  void on_not_executed(const reply_context& c) final { cut(c.now, c.events); }
  void on_cut(const reply_context& c) final { cut(c.now, c.events); }

 protected:
  ~answerer() = default;
};

enum class attended { by_callers, by_nobody };  // whether somebody who waits relies on the reply

struct expected_reply {
  reply_handler* to = nullptr;
  time_point sent{};
  std::uint32_t replies = 1;  // that are still to come; the last one counts
  bool is_unattended = false;
};
static_assert(sizeof(expected_reply) == 24);

enum class role : unsigned char { commands, messages, renewals };

class line;

// One connection, from connect() until its stream has told that it is closed.
struct wire : core::stream_events {
  std::unique_ptr<core::stream> stream;
  virtual ~wire() = default;
};

enum class loss : unsigned char {  // of a connection
  in_use,                          // it was open, or has been opening for too long
  not_reached,                     // there is nothing to connect to
  refused,                         // the server will not have us: another attempt fails as well
};

class line_owner {  // called with the link's lock held
 public:
  virtual void on_ready(line&, time_point now, core::event_queue&) = 0;
  // What was known of the data proves nothing now: called before the reply that says so.
  virtual void on_data_in_doubt(line&) = 0;
  virtual void on_message(line&, const value&, time_point now, core::event_queue&) = 0;
  // After the cuts.
  virtual void on_down(line&, const core::failure&, loss, time_point now, core::event_queue&) = 0;
  virtual void on_silent(line&, time_point now) = 0;  // nothing comes, though much is awaited
  virtual void on_heard(line&, time_point now) = 0;   // it is not silent any more
  // Lives until it is closed. Null, with the reason: this process has no descriptor or thread left.
  virtual std::shared_ptr<wire> connect(line&, core::failure& why) = 0;
  virtual void wake_by(time_point) = 0;  // on_alarm() is due then
  virtual core::environment& env() = 0;

 protected:
  ~line_owner() = default;
};

class line {
 public:
  enum class state : unsigned char { down, connecting, greeting, ready };

  line(line_owner& home, const settings& s, role what, std::uint64_t client);

  // All with the link's lock held.
  void open(time_point now);  // unless it is open, or pauses
  bool ready() const noexcept { return state_ == state::ready; }
  bool is_down() const noexcept { return state_ == state::down; }
  role what() const noexcept { return role_; }
  std::string& out() noexcept { return out_; }
  // In the order of what is written. Of several replies, the last one counts.
  void expect(reply_handler&, std::uint32_t replies, time_point sent,
              attended = attended::by_callers);
  void on_alarm(time_point now, core::event_queue&);
  void hurry(time_point by);  // the pause before the next connection ends then at the latest
  const std::shared_ptr<wire>& current() const noexcept { return wire_; }
  bool may_write() const noexcept { return state_ >= state::greeting; }
  bool is_sole() const noexcept { return is_sole_; }  // nothing sent earlier can run any more
  const core::failure& last_failure() const noexcept { return last_failure_; }
  bool will_pass() const noexcept { return passes_; }  // the last failure: open() tries again
  // An answer that no claim waits for: to the greeting, or to what was asked for its own sake.
  bool awaits() const noexcept {
    return state_ == state::connecting || state_ == state::greeting || unattended_ > 0;
  }
  core::failure too_late(std::string_view bound) const;  // the bound that it has exceeded

  bool writing = false;  // somebody is: it takes along what others add
  std::string spare;     // of who writes; keeps its room

  // The events of the current wire.
  void opened();
  void received(std::span<const std::byte>, time_point now, core::event_queue&);
  void closed(core::failure, time_point now, core::event_queue&);

 private:
  enum class step : unsigned char { auth, select, name, id, info, kill, subscribe };
  void greet(step);
  void greet_kill(std::int64_t id);
  bool greeted(const value&, time_point now, core::event_queue&);
  bool greet_failed(step, const value&, time_point now, core::event_queue&);
  void learn_server(std::string_view info);
  void become_ready(time_point now, core::event_queue&);
  void fail(core::failure, loss, time_point now, core::event_queue&);
  bool handle(const value&, time_point now, core::event_queue&);
  void retry_later(time_point now, bool at_once);
  duration silence_max() const noexcept { return settings_.rules.op_timeout / 2; }
  duration silence_noticed() const noexcept { return silence_max() / 2; }

  line_owner& home_;
  const settings& settings_;
  const role role_;
  const std::uint64_t client_;
  state state_ = state::down;
  std::shared_ptr<wire> wire_;
  std::unique_ptr<reply_reader> reader_;
  std::string out_;
  core::ring<expected_reply> in_flight_;
  unsigned unattended_ = 0;    // of these
  std::deque<step> greeting_;  // the steps that are not answered yet
  time_point began_{};         // to connect
  time_point retry_at_ = core::never;
  unsigned attempts_ = 0;
  std::int64_t own_id_ = 0;                 // of this connection at the server; 0: not known
  std::vector<std::int64_t> predecessors_;  // that may live on at the server
  std::string run_id_;                      // of the server that gave them their ids
  bool is_silent_ = false;
  bool passes_ = false;
  bool is_sole_ = true;  // no predecessor is left, as far as can be known
  std::string aborted_;  // why the server will not do the transaction it is being told
  core::failure last_failure_;
};

}  // namespace holdfast::redis
