// The connections to one server: one for commands, which all callers share in one pipeline, one for
// messages, one for renewals. Knows no lock: a request_source decides what is sent.
#pragma once
#include <memory>
#include <string>

#include "backend/redis/transport/connection.hpp"
#include "backend/redis/transport/reachability.hpp"
#include "backend/redis/transport/request_source.hpp"
#include "backend/redis/transport/server_clock.hpp"
#include "backend/redis/transport/subscriptions.hpp"
#include "backend/redis/transport/transport_group.hpp"

namespace holdfast::redis {

class transport;

// Ends when it is destroyed, with the group's mutex held.
class subscription {
 public:
  subscription(transport& t, std::string_view channel, message_handler& h)
      : over_(t), channel_(channel), handler_(h) {}
  subscription(const subscription&) = delete;
  subscription& operator=(const subscription&) = delete;
  ~subscription();
  bool is_active() const noexcept;  // every message arrives now

 private:
  transport& over_;
  const std::string channel_;
  message_handler& handler_;
};

class transport final : private connection_owner, private group_member {
 public:
  // Without the mutex. `all_scripts` outlives it.
  transport(transport_group&, const endpoint&, request_source&,
            std::span<const script> all_scripts);
  ~transport();

  transport_group& group() noexcept { return group_; }

  // All with the group's mutex held, but where it says otherwise.
  void open(lane what, time_point now) { of(what).open(now); }
  bool is_ready(lane what) const noexcept { return of(what).is_ready(); }
  // It failed, and has not been ready since.
  bool has_failed(lane what) const noexcept { return bool(of(what).last_failure().code); }
  // Nothing that was sent over an earlier connection for commands is executed any more.
  bool no_older_connection_runs() const noexcept { return commands_.no_older_connection_runs(); }
  // Outside of write_requests, for what is rare. write(request_writer&) appends one request. False:
  // there is no connection; it is opened.
  template <class Write>
  bool submit(reply_handler& to, time_point now, Write write) {
    if (!commands_.is_ready()) {
      commands_.open(now);
      return false;
    }
    write_commands([&](request_writer& w) {
      write(w);
      w.expect(to, 1, now, attended::by_nobody);
    });
    return true;
  }
  // Likewise, while the connection for commands is ready; write(request_writer&) expects too.
  template <class Write>
  void write_commands(Write write) {
    request_writer w(commands_, scripts_);
    write(w);
  }
  reply_handler& nobody() noexcept;                 // for replies of no interest
  void load_script(const script&, time_point now);  // where the user has the right to
  void check_eviction(time_point now);  // warns in the log where the server may evict keys

  // Sent with the handshake of the connection for messages, or at once when that is ready. The
  // handler has to outlive it. Messages of a channel that is not active yet may be lost.
  std::unique_ptr<subscription> subscribe(std::string_view channel, message_handler&,
                                          time_point now);

  const server_clock& clock() const noexcept { return clock_; }
  void note_clock(time_point sent, server_time at, time_point now) noexcept {
    clock_.note(sent, at, now);
  }
  duration clock_jump(time_point sent, server_time at, time_point now) noexcept {
    return clock_.jump(sent, at, now);
  }
  // Has the clock read unless a sample younger than this is known; checks with it whether the
  // connection for messages still works.
  void want_sample(duration age_max, time_point now);

  void tick_by(time_point t) { group_.wake_by(t); }  // request_source::on_tick() is due then
  // The pause before a new connection ends then at the latest.
  void hurry(lane what, time_point by) { of(what).hurry(by); }
  // From any thread, for commands and messages without the mutex too: something is to be written.
  void request_flush(lane, bool at_once) noexcept;

  // What keeps requests from being answered.
  void note_put_off(std::string why, time_point now);  // the server does not do it now
  void note_accepted(time_point now) { reach_.on_accepted(now); }
  void note_affected(time_point now);                               // somebody comes to need it
  bool is_out() const noexcept { return reach_.is_out(); }          // any thread, with any lock
  time_point out_since() const noexcept { return reach_.since(); }  // `never`: it is not
  core::reach read_reach() const { return reach_.read(group_.env().now()); }
  std::string why_not() const;  // for an operation that was not answered in time
  // Of a failure that has no text of its own; empty: it needs none.
  std::string reason(errc why) const {
    return why == errc::unavailable || why == errc::outcome_unknown ? why_not() : std::string();
  }
  std::string outage_text() const;  // for a waiter that has waited for the outage-timeout

 private:
  friend class subscription;
  class ignored_reply;
  class clock_reply;
  class memory_reply;
  class subscribe_reply;
  class proof_reply;

  // connection_owner
  void on_ready(connection&, time_point now, core::event_queue&) override;
  void on_script_missing(std::uint16_t s) override { scripts_.on_missing(s); }
  void on_data_in_doubt() override { source_.on_data_in_doubt(*this); }
  void on_message(std::string_view channel, std::string_view payload, time_point now,
                  core::event_queue& events) override {
    subscriptions_.on_message(channel, payload, now, events);
  }
  void on_down(connection&, const core::failure&, loss, time_point now,
               core::event_queue&) override;
  void on_silent(connection&, time_point now) override;
  void on_heard(connection& c, time_point now) override { reach_.on_heard(c.what(), now); }
  std::shared_ptr<attached_stream> connect(connection&, core::failure& why) override;
  void wake_by(time_point t) override { group_.wake_by(t); }
  core::environment& env() override { return group_.env(); }

  // group_member
  void flush(std::unique_lock<std::mutex>&) noexcept override;
  void flush_renewals(std::unique_lock<std::mutex>&) noexcept override;
  void on_alarm(time_point now, core::event_queue&) override;
  bool has_unattended_replies() const noexcept override {
    return commands_.has_unattended_replies() || messages_.has_unattended_replies();
  }
  bool is_open() const noexcept override { return commands_.is_ready() && source_.is_open(*this); }
  core::failure why_not_open(bool is_overdue) const override;
  bool is_settled() const noexcept override { return source_.is_settled(); }

  connection& of(lane) noexcept;
  const connection& of(lane) const noexcept;
  void write(connection&, std::unique_lock<std::mutex>&) noexcept;
  void probe_messages(time_point now);
  // Asks the other connections whether they are still there. `only_of_another`: those to a server
  // that was another one than this, or has been started again since.
  enum class which : unsigned char { all, only_of_another };
  void prove_others(const connection&, which, time_point now);
  void request_subscriptions(time_point now);
  void drop_unused_subscriptions(time_point now);
  void watch_outage();

  transport_group& group_;
  const endpoint& endpoint_;
  request_source& source_;
  subscriptions subscriptions_;
  script_cache scripts_;
  connection commands_, messages_, renewals_;
  server_clock clock_;
  reachability reach_;
  std::unique_ptr<ignored_reply> ignored_;
  std::unique_ptr<clock_reply> clock_reply_;
  std::unique_ptr<memory_reply> memory_reply_;
  std::unique_ptr<subscribe_reply> subscribe_reply_;
  std::unique_ptr<proof_reply> proofs_[3];  // by lane
  bool is_sampling_ = false;
  time_point probed_{};
};

}  // namespace holdfast::redis
