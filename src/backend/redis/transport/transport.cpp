#include "backend/redis/transport/transport.hpp"

#include <utility>

#include "backend/redis/transport/server_info.hpp"

namespace holdfast::redis {

using core::event_queue;
using core::failure;

// Of a reply that says nothing of interest.
class transport::ignored_reply final : public reply_handler {
  void on_reply(const value&, const reply_context&) override {}
  void on_not_executed(const reply_context&) override {}
  void on_cut(const reply_context&) override {}
};

class transport::clock_reply final : public reply_handler {
 public:
  explicit clock_reply(transport& t) noexcept : home_(t) {}

 private:
  void on_reply(const value& v, const reply_context& c) override {
    home_.is_sampling_ = false;
    home_.clock_.note(c.sent, read_time(v), c.now);
  }
  void on_not_executed(const reply_context&) override {}
  void on_cut(const reply_context&) override { home_.is_sampling_ = false; }
  transport& home_;
};

class transport::memory_reply final : public reply_handler {  // a user may lack the right to it
 public:
  explicit memory_reply(transport& t) noexcept : home_(t) {}

 private:
  void on_reply(const value& v, const reply_context&) override {
    if (v.is(value::kind::text)) home_.reach_.on_memory_info(v.text());
  }
  void on_not_executed(const reply_context&) override {}
  void on_cut(const reply_context&) override {}
  transport& home_;
};

// A user who lacks the right to a channel hears nothing on it: is_active() tells.
class transport::subscribe_reply final : public reply_handler {
 public:
  explicit subscribe_reply(transport& t) noexcept : home_(t) {}

 private:
  void on_reply(const value& v, const reply_context& c) override {
    if (v[0].text() != "subscribe") return;
    home_.subscriptions_.on_confirmed(v[1].text());
    home_.subscriptions_.notify_subscribed(v[1].text(), c.now, c.events);
  }
  void on_not_executed(const reply_context&) override {}
  void on_cut(const reply_context&) override {}
  transport& home_;
};

// The connection has survived what another was lost by.
class transport::proof_reply final : public reply_handler {
 public:
  proof_reply(transport& t, lane what) noexcept : home_(t), what_(what) {}

 private:
  void on_reply(const value&, const reply_context& c) override {
    home_.reach_.on_proven(what_, c.now);
  }
  void on_not_executed(const reply_context&) override {}
  void on_cut(const reply_context&) override {}  // on_down() follows
  transport& home_;
  const lane what_;
};

transport::transport(transport_group& g, const endpoint& e, request_source& source,
                     std::span<const script> all_scripts)
    : group_(g),
      endpoint_(e),
      source_(source),
      scripts_(all_scripts),
      commands_(*this, e, lane::commands, subscriptions_),
      messages_(*this, e, lane::messages, subscriptions_),
      renewals_(*this, e, lane::renewals, subscriptions_),
      reach_(e.text, g.log()),
      ignored_(std::make_unique<ignored_reply>()),
      clock_reply_(std::make_unique<clock_reply>(*this)),
      memory_reply_(std::make_unique<memory_reply>(*this)),
      subscribe_reply_(std::make_unique<subscribe_reply>(*this)) {
  for (const lane l : {lane::commands, lane::messages, lane::renewals})
    proofs_[static_cast<unsigned>(l)] = std::make_unique<proof_reply>(*this, l);
  const std::lock_guard guard(group_.mutex());
  group_.add(*this);
}

transport::~transport() {
  const std::lock_guard guard(group_.mutex());
  group_.remove(*this);
}

reply_handler& transport::nobody() noexcept { return *ignored_; }

connection& transport::of(lane what) noexcept {
  return what == lane::commands ? commands_ : what == lane::messages ? messages_ : renewals_;
}

const connection& transport::of(lane what) const noexcept {
  return what == lane::commands ? commands_ : what == lane::messages ? messages_ : renewals_;
}

void transport::on_ready(connection& c, time_point now, event_queue& events) {
  reach_.on_ready(c.what(), now);
  for (connection* other : {&commands_, &messages_, &renewals_}) other->hurry(now);
  prove_others(c, which::only_of_another, now);
  if (c.what() == lane::messages) {
    request_subscriptions(now);
    subscriptions_.notify_subscribed(now, events);
  }
  source_.on_ready(*this, c.what(), now, events);
  request_flush(c.what(), true);
}

void transport::on_down(connection& c, const failure& why, loss how, time_point now,
                        event_queue& events) {
  const bool is_news = !reach_.is_lost(c.what());
  reach_.on_lost(c.what(), why, source_.is_in_use(), now);
  if (is_news) prove_others(c, which::all, now);
  watch_outage();
  if (c.what() == lane::commands) is_sampling_ = false;
  if (c.what() == lane::messages) subscriptions_.on_lost();
  source_.on_down(*this, c.what(), why, how, now, events);
}

void transport::on_silent(connection& c, time_point now) {
  reach_.on_silent(c.what(), now);
  watch_outage();
  source_.on_silent(*this, c.what(), now);
}

std::shared_ptr<attached_stream> transport::connect(connection& c, failure& why) {
  return group_.connect(c, endpoint_.where, endpoint_.tls ? &*endpoint_.tls : nullptr, why);
}

void transport::flush(std::unique_lock<std::mutex>& lock) noexcept {
  write(commands_, lock);
  write(messages_, lock);
}

void transport::flush_renewals(std::unique_lock<std::mutex>& lock) noexcept {
  write(renewals_, lock);
}

// One thread at a time writes to a connection; it takes along what others add meanwhile.
void transport::write(connection& c, std::unique_lock<std::mutex>& lock) noexcept {
  if (c.writing) return;
  c.writing = true;
  for (;;) {
    if (c.is_ready() && c.what() != lane::messages) {
      request_writer w(c, scripts_);
      source_.write_requests(*this, c.what(), w);
    }
    if (!c.may_write() || c.out().empty()) break;
    c.spare.clear();
    c.spare.swap(c.out());
    const std::shared_ptr<attached_stream> over = c.stream();
    lock.unlock();
    over->stream->write(std::as_bytes(std::span(c.spare)));
    lock.lock();
  }
  c.writing = false;
}

void transport::request_flush(lane what, bool at_once) noexcept {
  what == lane::renewals ? group_.request_renewal_flush() : group_.request_flush(at_once);
}

void transport::on_alarm(time_point now, event_queue& events) {
  commands_.on_alarm(now, events);
  messages_.on_alarm(now, events);
  renewals_.on_alarm(now, events);
  source_.on_tick(*this, now, events);
  drop_unused_subscriptions(now);
  reach_.tick(source_.is_in_use(), now);
  tick_by(reach_.next_tick());
}

failure transport::why_not_open(bool is_overdue) const {
  const failure& last = commands_.last_failure();
  const bool has_failed = commands_.is_down() && last.code;
  if (has_failed && (is_overdue || !commands_.will_pass())) return last;
  return is_overdue ? commands_.too_late("op-timeout") : failure();
}

void transport::load_script(const script& s, time_point now) {
  submit(*ignored_, now, [&](request_writer& w) {
    command(w.out(), 3) << "SCRIPT"
                        << "LOAD" << s.text;
  });
}

void transport::check_eviction(time_point now) {
  submit(*memory_reply_, now, [](request_writer& w) {
    command(w.out(), 2) << "INFO"
                        << "memory";
  });
}

void transport::want_sample(duration age_max, time_point now) {
  if (is_sampling_ || clock_.is_fresh(now, age_max)) return;
  is_sampling_ =
      submit(*clock_reply_, now, [](request_writer& w) { command(w.out(), 1) << "TIME"; });
  probe_messages(now);
}

// A dead connection for messages is found out by the question that it does not answer.
void transport::probe_messages(time_point now) {
  if (!messages_.is_ready() || now - probed_ < endpoint_.op_timeout / 4) return;
  probed_ = now;
  command(messages_.out(), 1) << "PING";
  messages_.expect(*ignored_, 1, now, attended::by_nobody);
}

// Nobody may wait for anything over them, and then nobody reads that they were closed.
void transport::prove_others(const connection& known, which those, time_point now) {
  for (connection* c : {&commands_, &messages_, &renewals_}) {
    if (c == &known || !c->is_ready() || reach_.is_asked(c->what())) continue;
    if (those == which::only_of_another && known.is_same_server(*c)) continue;
    reach_.on_asked(c->what());
    command(c->out(), 1) << "PING";
    c->expect(*proofs_[static_cast<unsigned>(c->what())], 1, now, attended::by_nobody);
    c->what() == lane::renewals ? group_.request_renewal_flush() : tick_by(now);
  }
}

// The next line for the log.
void transport::watch_outage() {
  if (reach_.is_out()) tick_by(reach_.next_tick());
}

void transport::note_put_off(std::string why, time_point now) {
  reach_.on_put_off(std::move(why), source_.is_in_use(), now);
  watch_outage();
}

void transport::note_affected(time_point now) {
  reach_.on_affected(now);
  watch_outage();
}

std::string transport::outage_text() const {
  return "the outage lasts for longer than the outage-timeout: " + read_reach().trouble.text;
}

std::string transport::why_not() const {
  const core::reach known = read_reach();
  std::string out = "no answer within the op-timeout";
  if (known.trouble.code) return out + ": " + known.trouble.text;
  return out;
}

std::unique_ptr<subscription> transport::subscribe(std::string_view channel, message_handler& to,
                                                   time_point now) {
  subscriptions_.add(channel, to);
  if (messages_.is_ready()) request_subscriptions(now);
  return std::make_unique<subscription>(*this, channel, to);
}

void transport::request_subscriptions(time_point now) {
  subscriptions_.request_missing([&](std::string_view channel) {
    command(messages_.out(), 2) << "SUBSCRIBE" << channel;
    messages_.expect(*subscribe_reply_, 1, now, attended::by_nobody);
  });
}

void transport::drop_unused_subscriptions(time_point now) {
  subscriptions_.drop_unused(now, [&](std::string_view channel) {
    if (!messages_.is_ready()) return;
    command(messages_.out(), 2) << "UNSUBSCRIBE" << channel;
    messages_.expect(*ignored_, 1, now, attended::by_nobody);
  });
  tick_by(subscriptions_.next_drop());
}

subscription::~subscription() {
  over_.subscriptions_.remove(channel_, handler_, over_.group_.env().now());
  over_.tick_by(over_.subscriptions_.next_drop());
}

bool subscription::is_active() const noexcept { return over_.subscriptions_.is_active(channel_); }

}  // namespace holdfast::redis
