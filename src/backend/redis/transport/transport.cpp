#include "backend/redis/transport/transport.hpp"

#include <algorithm>
#include <deque>
#include <utility>

#include "backend/redis/transport/error_text.hpp"
#include "backend/redis/transport/server_info.hpp"
#include "base/mutant.hpp"

namespace holdfast::redis {

using base::event_queue;
using base::failure;

constexpr duration subscribe_pause = std::chrono::seconds{1};  // see subscribe_again_

// The reply to SUNSUBSCRIBE and to the PING right after it. When a slot leaves a server, the server
// sends the reply to SUNSUBSCRIBE unasked, and may then answer the request with an error. So the
// end of a channel comes once or twice, or before an error; the reply to PING shows which was the
// last one.
//
// An error that comes first answers SUNSUBSCRIBE. One that comes after the end of the channel
// answers SUNSUBSCRIBE if it is about a slot, and PING if only PING can be answered so. Any other
// may answer either: the connection is given up, since its replies could be taken for each other.
class transport::unsubscribe_reply final : public reply_handler {
 public:
  explicit unsubscribe_reply(transport& t) noexcept : home_(t) {}
  void expect_end_of(std::string_view channel) { channels_.emplace_back(channel); }

 private:
  void on_reply(const value& v, const reply_context& c) override {
    const bool is_unclear =
        v.is(value::kind::error) && has_ended_ && !is_refused_ && !is_of_ping(v.text());
    end();
    if (!is_unclear) return;
    failure why{errc::unavailable, explain(v.text()) + "; it may be the reply to SUNSUBSCRIBE or "
                                                       "to the PING after it"};
    home_.messages_.end(std::move(why), c.now, c.events);
  }
  void on_cut(const reply_context&) override { end(); }
  bool continues_after(const value& v) noexcept override {
    if (v.is(value::kind::array)) {
      const bool is_end = v[0].text() == "sunsubscribe" && v[1].text() == channels_.front();
      has_ended_ = has_ended_ || is_end;
      return is_end;
    }
    if (!v.is(value::kind::error) || (has_ended_ && !is_of_slot(v.text()))) return false;
    return !std::exchange(is_refused_, true);
  }
  // The user may not send it, or the server has no such command. With the three codes a server
  // executes SUNSUBSCRIBE all the same.
  static bool is_of_ping(std::string_view error) noexcept {
    const auto names = [&](std::string_view text) { return error.find(text) != error.npos; };
    return error.starts_with("LOADING") || error.starts_with("MASTERDOWN") ||
           error.starts_with("MISCONF") || names("'ping'") || names("'PING'");
  }
  static bool is_of_slot(std::string_view error) noexcept {
    return error.starts_with("MOVED") || error.starts_with("CLUSTERDOWN") ||
           error.find("'sunsubscribe'") != error.npos;
  }
  void end() {
    channels_.pop_front();
    has_ended_ = is_refused_ = false;
  }
  transport& home_;
  std::deque<std::string> channels_;             // in the order of the requests
  bool has_ended_ = false, is_refused_ = false;  // the first of them
};

transport::transport(io::client_reactor& r, const endpoint& e, std::span<const script> all_scripts,
                     reactor_mutex m)
    : reactor_(r),
      endpoint_(e),
      scripts_(all_scripts),
      commands_(*this, endpoint_, lane::commands, subscriptions_),
      messages_(*this, endpoint_, lane::messages, subscriptions_),
      renewals_(*this, endpoint_, lane::renewals, subscriptions_),
      probe_(r, endpoint_, std::bind_front(&transport::on_probed, this), subscriptions_),
      reach_(e.text, r.log()),
      unsubscribe_reply_(std::make_unique<unsubscribe_reply>(*this)) {
  if (e.replicas > 0 || e.by_majority) {
    replica_wait::asker& me = *this;
    wait_ = std::make_unique<replica_wait>(r, endpoint_, me, subscriptions_);
    wait_->set_count(static_cast<std::size_t>(std::max(e.replicas, 1)));
  }
  std::unique_lock guard(reactor_.mutex(), std::defer_lock);
  if (m == reactor_mutex::is_free) guard.lock();
  reactor_.add(*this);
}

transport::~transport() {
  const std::lock_guard guard(reactor_.mutex());
  reactor_.remove(*this);
}

connection& transport::of(lane purpose) noexcept {
  return purpose == lane::commands ? commands_ : purpose == lane::messages ? messages_ : renewals_;
}

const connection& transport::of(lane purpose) const noexcept {
  return purpose == lane::commands ? commands_ : purpose == lane::messages ? messages_ : renewals_;
}

void transport::on_ready(connection& c, time_point now, event_queue& events) {
  reach_.on_ready(c.purpose(), now);
  for (connection* other : lanes()) other->retry_now(now);
  if (c.purpose() == lane::commands) {
    follow_commands(now, events);
    note_replicas(c.server().replicas.size());
    if (wait_) wait_->open(now);
  }
  const bool is_shown = c.purpose() != lane::messages || !await_count(now);
  const bool is_news = is_shown && commands_.is_ready() && !std::exchange(is_confirmed_, true);
  if (c.purpose() == lane::messages) {
    request_subscriptions(now);
    subscriptions_.notify_subscribed(now, events);
  }
  for (request_source* s : sources_) s->on_ready(c.purpose(), now, events);
  has_moved_ = false;
  if (is_news && c.purpose() != lane::commands) on_confirmed(now);
  request_flush(c.purpose());
}

void transport::on_down(connection& c, const failure& why, loss kind, time_point now,
                        event_queue& events) {
  if (c.was_ready()) doubt_all();
  const bool is_news = !reach_.is_lost(c.purpose());
  reach_.on_lost(c.purpose(), why, is_in_use(), now);
  if (is_news) verify_others(c, now);
  watch_outage();
  if (c.purpose() == lane::messages) {
    held_messages_.clear();
    marked_messages_ = 0;
    subscriptions_.on_lost();
    lacks_sharded_right_ = false;  // it may have been given meanwhile
    awaits_listener_ = !lineage_.leader().is_known();
    if (awaits_listener_) tick_by(now);  // renewals go with the commands meanwhile
  }
  // Where nothing listens, another server may be named in a moment.
  if (is_led_ && kind == loss::not_reached) kind = loss::in_use;
  for (request_source* s : sources_) s->on_down(c.purpose(), why, kind, now, events);
}

void transport::on_silent(connection& c, time_point now) {
  reach_.on_silent(c.purpose(), now);
  watch_outage();
  for (request_source* s : sources_) s->on_silent(c.purpose(), now);
}

void transport::flush(std::unique_lock<std::mutex>& lock, base::driven_by loop) noexcept {
  if (loop == base::driven_by::thread) return write(renewals_, lock);
  write(commands_, lock);
  write(messages_, lock);
  write(probe_.line(), lock);
  if (wait_) wait_->write(lock);
}

void transport::write(connection& c, std::unique_lock<std::mutex>& lock) noexcept {
  write_out(c, lock, [this](connection& to) {
    if (!to.is_ready()) return;
    const bool was_idle = to.is_idle();
    if (to.purpose() != lane::messages) {
      request_writer w(to, scripts_);
      for (request_source* s : sources_) s->write_requests(to.purpose(), w);
    }
    if (wait_ && &to == &commands_ && was_idle && to.awaits_what_is_held())
      wait_->ask_behind(to, reactor_.env().now());
    if (next_probe_ == base::never && !to.out().empty()) plan_probe(confirmed_at_);
  });
}

void transport::request_flush(lane purpose) noexcept {
  purpose == lane::renewals ? reactor_.request_flush_of_own_loop(true)
                            : reactor_.request_flush(true);
}

void transport::on_alarm(time_point now, event_queue& events) {
  commands_.on_alarm(now, events);
  messages_.on_alarm(now, events);
  renewals_.on_alarm(now, events);
  probe_.on_alarm(now, events);
  if (wait_) wait_->on_alarm(now, events);
  probe_if_due(now);
  for (request_source* s : sources_) s->on_tick(now, events);
  if (subscribe_again_ <= now) {
    subscribe_again_ = base::never;
    if (messages_.is_ready()) request_subscriptions(now);
  }
  tick_by(subscribe_again_);
  drop_unused_subscriptions(now);
  reach_.tick(is_in_use(), now);
  tick_by(reach_.next_tick());
}

bool transport::is_open() const noexcept {
  const auto is_ready = [](const request_source* s) { return s->is_open(); };
  if (wait_ && !wait_->is_answered()) return false;
  return commands_.is_ready() && std::ranges::all_of(sources_, is_ready);
}

bool transport::is_in_use() const noexcept {
  return std::ranges::any_of(sources_, [](const request_source* s) { return s->is_in_use(); });
}

void transport::on_data_in_doubt() {
  for (request_source* s : sources_) s->on_data_in_doubt();
}

failure transport::why_not_open(bool is_overdue) const {
  for (const request_source* s : sources_)
    if (failure f = s->fault(); f.code) return f;
  if (wait_)
    if (failure f = wait_->fault(); f.code) return f;
  const failure& last = commands_.last_failure();
  if (last.code && (is_overdue || commands_.has_failed_for_good())) return last;
  return is_overdue ? commands_.too_late("op-timeout") : failure();
}

void transport::load_script(const script& s, time_point now) {
  submit(ignored_, now, [&](request_writer& w) { w.plain("SCRIPT", "LOAD", s.text); });
}

void transport::check_eviction(time_point now) {
  submit(memory_reply_, now, [](request_writer& w) { w.plain("INFO", "memory"); });
}

void transport::want_sample(duration age_max, time_point now) {
  probe_messages(now);
  if (is_sampling_ || clock_.is_fresh(now, age_max)) return;
  is_sampling_ = submit(clock_reply_, now, [](request_writer& w) { w.plain("TIME"); });
}

void transport::on_sampled(const value& v, const reply_context& c) {
  is_sampling_ = false;
  clock_.note(c.sent, read_time(v), c.received);
}

// A dead connection for messages is found out by the question that it does not answer.
void transport::probe_messages(time_point now) {
  if (!messages_.is_ready() || now - probed_ < endpoint_.op_timeout / 4) return;
  probed_ = now;
  append_command(messages_.out(), "PING");
  messages_.expect(ignored_, 1, now, attended::in_background);
}

// An idle connection is not read, so its closing would go unnoticed.
void transport::verify_others(const connection& lost, time_point now) {
  for (connection* c : lanes()) {
    if (c == &lost || !c->is_ready() || reach_.is_asked(c->purpose())) continue;
    reach_.on_asked(c->purpose());
    append_command(c->out(), "PING");
    c->expect(proofs_[static_cast<unsigned>(c->purpose())], 1, now, attended::in_background);
    c->purpose() == lane::renewals ? reactor_.request_flush_of_own_loop(true) : tick_by(now);
  }
}

// The next line for the log.
void transport::watch_outage() {
  if (reach_.is_unavailable()) tick_by(reach_.next_tick());
}

void transport::note_refusal(std::string why, time_point now) {
  reach_.on_refusal(std::move(why), is_in_use(), now);
  watch_outage();
  note_refused_request(now);
}

void transport::note_refused_request(time_point now) {
  for (request_source* s : sources_) s->on_requests_refused(now);
}

void transport::note_waiter(time_point now) {
  reach_.on_new_waiter(now);
  watch_outage();
}

std::string transport::outage_text() const {
  return "the outage lasts for longer than the outage-timeout: " + read_status().trouble.text;
}

std::string transport::why_not() const {
  const seam::connection_status known = read_status();
  std::string out = "no answer within the op-timeout";
  if (known.trouble.code) return out + ": " + known.trouble.text;
  return out;
}

std::unique_ptr<subscription> transport::subscribe(std::string_view channel, message_handler& to,
                                                   time_point now, channel_kind kind) {
  subscriptions_.add(channel, to, kind);
  if (messages_.is_ready()) request_subscriptions(now);
  return std::make_unique<subscription>(*this, channel, to);
}

void transport::request_subscriptions(time_point now) {
  subscriptions_.request_missing([&](std::string_view channel) {
    append_command(messages_.out(), is_sharded(channel) ? "SSUBSCRIBE" : "SUBSCRIBE", channel);
    messages_.expect(subscribe_reply_, 1, now, attended::in_background);
  });
}

void transport::on_subscribe_answered(const value& v, const reply_context& c) {
  if (v.is(value::kind::error)) return on_subscription_refused(v.text(), c.now);
  if (v[0].text() != "subscribe" && v[0].text() != "ssubscribe") return;
  subscriptions_.on_confirmed(v[1].text());
  subscriptions_.notify_subscribed(v[1].text(), c.now, c.events);
}

// A refusal may end: the right to the channel is given back, or a long script is over.
void transport::repeat_subscriptions(time_point now) {
  subscriptions_.on_refused();
  subscribe_again_ = base::saturating_add(now, subscribe_pause);
  tick_by(subscribe_again_);
}

// Without the right to sharded channels, plain ones still carry the messages of the clients whose
// users lack it too: their scripts publish to those. The same holds for a server that reports the
// version of Redis 7.0 and does not have the command.
void transport::on_subscription_refused(std::string_view error, time_point now) {
  const auto names = [&](std::string_view verb) { return error.find(verb) != error.npos; };
  const bool lacks_right = error.starts_with("NOPERM") && names("'ssubscribe'");
  const bool is_unknown = error.starts_with("ERR unknown command") && names("SSUBSCRIBE");
  if (!lacks_right && !is_unknown) return repeat_subscriptions(now);
  if (std::exchange(lacks_sharded_right_, true)) return;  // it has been requested as a plain one
  subscriptions_.on_refused();
  request_subscriptions(now);
  request_flush(lane::messages);
}

void transport::drop_unused_subscriptions(time_point now) {
  subscriptions_.drop_unused(now, [&](std::string_view channel) {
    if (!messages_.is_ready()) return;
    if (is_sharded(channel)) {
      append_command(messages_.out(), "SUNSUBSCRIBE", channel);
      append_command(messages_.out(), "PING");
      unsubscribe_reply_->expect_end_of(channel);
      messages_.expect(*unsubscribe_reply_, 1, now, attended::in_background);
      return;
    }
    append_command(messages_.out(), "UNSUBSCRIBE", channel);
    messages_.expect(ignored_, 1, now, attended::in_background);
  });
  tick_by(subscriptions_.next_drop());
}

bool transport::is_sharded(std::string_view channel) const noexcept {
  return messages_.server().has_sharded_channels && !lacks_sharded_right_ &&
         subscriptions_.is_sharded(channel) &&
         !base::planted(base::mutant::plain_channel_in_cluster);
}

// The claims that wait poll meanwhile, and are redirected to the server that has the slot now.
void transport::on_unsubscribed(std::string_view channel, time_point now, event_queue& events) {
  if (!subscriptions_.on_ended(channel, now, events)) return;
  subscribe_again_ = base::saturating_add(now, subscribe_pause);
  tick_by(subscribe_again_);
}

subscription::~subscription() {
  over_.subscriptions_.remove(channel_, handler_, over_.reactor_.env().now());
  over_.tick_by(over_.subscriptions_.next_drop());
}

bool subscription::is_active() const noexcept { return over_.subscriptions_.is_active(channel_); }

}  // namespace holdfast::redis
