// The connections to one server: one for commands, which all callers share in one pipeline, one for
// messages, one for renewals. Knows no lock: its request_sources decide what is sent.
//
// One name may lead to several servers, one after the other. The commands' connection leads: it is
// made by name, the others to the address that it has reached, and none counts that has reached
// another server (lineage.hpp). When a connection that was in use ends, the name may lead
// elsewhere: what is awaited then proves nothing, and nothing new is believed until one that was
// made since has reached the same server. A probe finds out where nothing ends.
#pragma once
#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backend/redis/transport/connection.hpp"
#include "backend/redis/transport/lineage.hpp"
#include "backend/redis/transport/probe.hpp"
#include "backend/redis/transport/reachability.hpp"
#include "backend/redis/transport/replica_wait.hpp"
#include "backend/redis/transport/request_source.hpp"
#include "backend/redis/transport/server_clock.hpp"
#include "backend/redis/transport/subscriptions.hpp"
#include "io/reactor/client_reactor.hpp"

namespace holdfast::redis {

class transport;

// Ends when it is destroyed, with the reactor's mutex held.
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

class transport final : private connection_owner,
                        private io::reactor_user,
                        private replica_wait::asker {
 public:
  enum class reactor_mutex { is_free, is_held };
  // `all_scripts` outlives it.
  transport(io::client_reactor&, const endpoint&, std::span<const script> all_scripts,
            reactor_mutex = reactor_mutex::is_free);
  ~transport();

  io::client_reactor& reactor() noexcept { return reactor_; }

  // All with the reactor's mutex held, but where it says otherwise.
  void serve(request_source& s) { sources_.push_back(&s); }  // before it is opened
  void open(lane purpose, time_point now) { of(purpose).open(now); }
  // For a deployment whose master is named by other servers: nothing is opened before lead_to()
  // names one. From then on its commands go there once that says that it is a master.
  void await_address() noexcept { awaits_address_ = true; }
  void lead_to(const base::address&, time_point now, base::event_queue&);
  bool is_led_elsewhere() const noexcept { return is_led_elsewhere_; }  // than its commands are yet
  // Whether commands may go to a master that has not the history of the one before. It may be that
  // one, restarted without its data, while a replica that has them is about to be promoted.
  void admit_strangers(bool are_admitted) noexcept {
    admits_strangers_ = are_admitted;
    has_refused_stranger_ = false;
  }
  bool has_refused_stranger() const noexcept { return has_refused_stranger_; }  // since then
  // That the master has, for endpoint::by_majority. The largest number counts.
  void note_replicas(std::size_t) noexcept;
  // Without which nothing counts; 0: none is asked.
  std::size_t replicas_needed() const noexcept { return wait_ ? wait_->count() : 0; }
  // A master that follows the commands' server.
  bool is_heir(const server_identity& s) { return lineage_.is_heir(s); }
  bool is_open() const noexcept;
  // Why it will never be open, or, when its time is over, why it is not. Code {}: it may be yet.
  base::failure why_not_open(bool is_overdue) const;
  bool is_ready(lane purpose) const noexcept { return of(purpose).is_ready(); }
  // The commands' connection is ready, and its server is the one that was reached last. Until then
  // nothing is to be acquired, and no renewal counts.
  bool lanes_agree() const noexcept override { return commands_.is_ready() && is_confirmed_; }
  // The commands have come to another server than before, or to the same one after it has been a
  // replica, with the data of another one: held locks have to be confirmed there.
  bool has_moved() const noexcept { return has_moved_; }
  const endpoint& where() const noexcept { return endpoint_; }
  // That server's run_id, and its first digits; empty: not known.
  const std::string& run_id() const noexcept { return lineage_.leader().run_id; }
  std::string_view server_stamp() const noexcept { return short_id(run_id()); }
  // It, or one that it waits for, failed and has not been ready since.
  bool has_failed(lane purpose) const noexcept {
    const bool awaits = purpose == lane::renewals && awaits_listener_;
    return of(purpose).last_failure().code || (awaits && messages_.last_failure().code);
  }
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
      w.expect(to, 1, now, attended::in_background);
    });
    return true;
  }
  // The same, while the connection for commands is ready; write(request_writer&) expects too.
  template <class Write>
  void write_commands(Write write) {
    request_writer w(commands_, scripts_);
    write(w);
  }
  reply_handler& reply_discarder() noexcept { return ignored_; }  // for replies of no interest
  void load_script(const script&, time_point now);                // where the user has the right to
  void check_eviction(time_point now);  // warns in the log where the server may evict keys

  // Sent with the handshake of the connection for messages (to a sharded channel: right after it),
  // or at once when that is ready. The handler has to outlive it. Messages of a channel that is not
  // active yet may be lost.
  std::unique_ptr<subscription> subscribe(std::string_view channel, message_handler&,
                                          time_point now, channel_kind = channel_kind::plain);

  server_clock& clock() noexcept { return clock_; }
  // Has the clock read unless a sample younger than this is known; checks with it whether the
  // connection for messages still works.
  void want_sample(duration age_max, time_point now);

  void tick_by(time_point t) { reactor_.wake_by(t); }  // request_source::on_tick() is due then
  // The pause before a new connection ends then at the latest.
  void retry_now(lane purpose, time_point by) { of(purpose).retry_now(by); }
  // From any thread, for commands and messages without the mutex too: something is to be written.
  void request_flush(lane) noexcept;

  // Reasons for which requests are not answered.
  void note_refusal(std::string why, time_point now);  // the server does not do it now
  void note_refused_request(time_point now);           // the same of one that nobody waits for
  void note_accepted(time_point now) { reach_.on_accepted(now); }
  void note_waiter(time_point now);  // a claim starts to wait for it
  bool is_in_use() const noexcept;   // a claim holds or wants a lock there
  bool is_unavailable() const noexcept {
    return reach_.is_unavailable();
  }                                                                 // any thread, with any lock
  time_point out_since() const noexcept { return reach_.since(); }  // `never`: it is not
  seam::connection_status read_status() const { return reach_.read(reactor_.env().now()); }
  std::string why_not() const;  // for an operation that was not answered in time
  // The text of a failure that has none of its own; empty: it needs none.
  std::string reason(errc why) const {
    return why == errc::unavailable || why == errc::outcome_unknown ? why_not() : std::string();
  }
  std::string outage_text() const;  // for a waiter that has waited for the outage-timeout

 private:
  friend class subscription;
  class unsubscribe_reply;

  // connection_owner
  bool may_open(connection&, time_point now) override;
  bool accepts(connection&, base::failure& why, time_point now, base::event_queue&) override;
  void on_demoted(time_point now, base::event_queue&) override;
  void on_ready(connection&, time_point now, base::event_queue&) override;
  void on_script_missing(std::uint16_t s) override { scripts_.on_missing(s); }
  void on_data_in_doubt() override;
  void on_message(std::string_view channel, std::string_view payload, time_point now,
                  base::event_queue&) override;
  void on_unsubscribed(std::string_view channel, time_point now, base::event_queue&) override;
  bool holds_back(connection&) noexcept override;
  void on_held(connection& c, time_point now) override {
    if (c.is_asking()) return;
    &c == &renewals_ ? wait_->ask_by_alarm(now) : wait_->ask_at_once(now);
  }
  void on_down(connection&, const base::failure&, loss, time_point now,
               base::event_queue&) override;
  void on_silent(connection&, time_point now) override;
  void on_heard(connection& c, time_point now) override { reach_.on_heard(c.purpose(), now); }
  std::string why_silent(const connection&) const override;
  std::shared_ptr<io::attached_stream> connect(connection&, base::failure& why) override;
  void wake_by(time_point t) override { reactor_.wake_by(t); }
  base::environment& env() override { return reactor_.env(); }

  // replica_wait::asker
  bool has_commands_server() const noexcept override { return commands_.is_ready(); }
  base::address reached() const override;
  bool is_commands_server(const server_identity&) const override;
  bool still_reigns(std::string_view replication, const reply_context&) override;
  bool has_held() const noexcept override;
  void on_asked() override;
  void on_covered(time_point now, base::event_queue&) override;
  void on_commands_covered(time_point now, base::event_queue&) override;
  void on_lacking(std::string why, time_point now) override;

  // io::reactor_user
  void flush(std::unique_lock<std::mutex>&, base::driven_by) noexcept override;
  void on_alarm(time_point now, base::event_queue&) override;
  bool has_unattended_replies() const noexcept override {
    return commands_.has_unattended_replies() || messages_.has_unattended_replies() ||
           probe_.has_unattended_replies() || (wait_ && wait_->has_unattended_replies());
  }

  connection& of(lane) noexcept;
  std::array<connection*, 3> lanes() noexcept { return {&commands_, &messages_, &renewals_}; }
  const connection& of(lane) const noexcept;
  void write(connection&, std::unique_lock<std::mutex>&) noexcept;
  void on_sampled(const value&, const reply_context&);
  void probe_messages(time_point now);
  void verify_others(const connection&, time_point now);  // are they still there?
  bool accepts_commands(const server_identity&, base::failure& why);
  void follow_commands(time_point now, base::event_queue&);
  void doubt_all() noexcept;
  bool await_count(time_point now);
  void on_counted(const value&, const reply_context&);
  void on_listener_shown(const reply_context&);
  void follow_messages(time_point now);
  void on_confirmed(time_point now);
  void leave(const char* why, time_point now, base::event_queue&);
  void ask_again(const server_identity& stranger, time_point now);
  void on_told_again(const value&, const reply_context&);
  // The commands' server, by its INFO replication.
  server_identity leader_now(std::string_view replication, const reply_context&) const;
  void plan_probe(time_point last);
  void probe_if_due(time_point now);
  void on_probed(const server_identity&, time_point now, base::event_queue&);
  void request_subscriptions(time_point now);
  void on_subscribe_answered(const value&, const reply_context&);
  void repeat_subscriptions(time_point now);                 // after a pause
  bool is_sharded(std::string_view channel) const noexcept;  // at this server
  void on_subscription_refused(std::string_view error, time_point now);
  void drop_unused_subscriptions(time_point now);
  void watch_outage();
  // The connection has answered after another one was lost; if it has not, on_down() follows.
  reply_function proof_of(lane l) {
    return reply_function(
        [this, l](const value&, const reply_context& c) { reach_.on_proven(l, c.now); });
  }

  io::client_reactor& reactor_;
  endpoint endpoint_;
  std::vector<request_source*> sources_;
  subscriptions subscriptions_;
  time_point subscribe_again_ = base::never;  // after a refusal, or an end by the server
  script_cache scripts_;
  connection commands_, messages_, renewals_;
  probe probe_;
  std::unique_ptr<replica_wait> wait_;  // null: what the server answers counts at once
  struct held_message {
    std::string channel, payload;
  };
  std::vector<held_message> held_messages_;
  std::size_t marked_messages_ = 0;  // of these, the first ones
  std::size_t known_replicas_ = 0;
  bool is_lacking_replicas_ = false;  // too few confirm; what is held back stays so
  lineage lineage_;
  server_clock clock_;
  reachability reach_;
  reply_function ignored_;
  reply_function clock_reply_{std::bind_front(&transport::on_sampled, this),
                              [this] { is_sampling_ = false; }};
  reply_function memory_reply_{[this](const value& v, const reply_context&) {
    if (v.is(value::kind::text)) reach_.on_memory_info(v.text());  // a user may lack the right
  }};
  reply_function subscribe_reply_{std::bind_front(&transport::on_subscribe_answered, this)};
  std::unique_ptr<unsubscribe_reply> unsubscribe_reply_;
  reply_function proofs_[3] = {proof_of(lane::commands), proof_of(lane::messages),
                               proof_of(lane::renewals)};  // by lane
  std::optional<std::string> joined_;  // the run_id of the server that commands went to last
  std::string joined_history_;         // of its data then; empty: it did not say
  // The number of subscribers to the own channel at the commands' server.
  reply_function count_reply_{std::bind_front(&transport::on_counted, this),
                              [this] { --awaited_counts_; }};
  // The replication ids of the commands' server, requested because a probe has met a stranger.
  reply_function history_reply_{std::bind_front(&transport::on_told_again, this)};
  server_identity stranger_;      // the cause of the last of these requests
  int awaited_counts_ = 0;        // replies to count_reply_
  bool awaits_commands_[3] = {};  // by lane: it is to be opened once they have a server
  // The server reports no run_id, and the connection for messages is not known to be to it.
  bool awaits_listener_ = false;
  bool is_confirmed_ = false;         // no connection has ended since the last one was made
  bool has_moved_ = false;            // to another server or other data, until sources know it
  bool is_sampling_ = false;          // a reply with the server's time is awaited
  bool lacks_sharded_right_ = false;  // on the connection for messages
  bool awaits_address_ = false, is_led_ = false, is_led_elsewhere_ = false;  // see lead_to()
  bool admits_strangers_ = true, has_refused_stranger_ = false;  // servers with other data
  time_point probed_{};                                          // the connection for messages
  time_point confirmed_at_{};            // a connection by name reached the commands' server
  time_point next_probe_ = base::never;  // of the name
};

}  // namespace holdfast::redis
