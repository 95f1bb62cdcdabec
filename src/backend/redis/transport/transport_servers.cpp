// The transport's part of lineage.hpp: which server each connection may use; and of
// replica_wait.hpp: what is held back, and what counts then.
#include <algorithm>
#include <utility>

#include "backend/redis/transport/transport.hpp"
#include "base/mutant.hpp"

namespace holdfast::redis {

using base::event_queue;
using base::failure;
using action = lineage::action;

namespace {

constexpr const char* refusal_of_replica = "the server is a replica, which grants no locks; name "
                                           "its master in the URL, or point the name to the master";
constexpr const char* refusal_of_sentinel =
    "a sentinel answers there, which stores no locks; open the master that it watches as "
    "redis+sentinel://host:port/name, with the name of the master";
constexpr const char* without_history =
    "the master that the sentinels name does not have the data of the previous one; the replicas "
    "of the previous one are checked first";
constexpr const char* leads_on = "the name now resolves to another server";
constexpr const char* was_replica = "the server was a replica meanwhile";

}  // namespace

// The others follow the commands, to the address that these have reached. Where only the connection
// for messages shows which server one is to, renewals follow it.
bool transport::may_open(connection& c, time_point now) {
  if (&c == &commands_) return !awaits_address_;
  connection& before = &c == &renewals_ && awaits_listener_ ? messages_ : commands_;
  if (commands_.is_ready() && &before == &commands_) return true;
  awaits_commands_[static_cast<unsigned>(c.purpose())] = true;
  (commands_.is_ready() ? before : commands_).open(now);
  return false;
}

base::address transport::reached() const {
  base::address peer = commands_.stream()->peer();
  return peer.host.empty() && peer.path.empty() ? endpoint_.where : peer;
}

std::shared_ptr<io::attached_stream> transport::connect(connection& c, failure& why) {
  const base::address where = &c == &commands_ ? endpoint_.where : reached();
  const auto loop = &c == &renewals_ ? base::driven_by::thread : base::driven_by::callers;
  return reactor_.connect(c, where, endpoint_.tls_or_none(), loop, why);
}

void transport::lead_to(const base::address& where, time_point now, event_queue& events) {
  const bool is_news = awaits_address_ || base::text_of(where) != base::text_of(endpoint_.where);
  awaits_address_ = false;
  is_led_ = true;
  is_led_elsewhere_ = is_led_elsewhere_ || is_news;
  endpoint_.move_to(where);
  if (commands_.is_ready()) {
    if (is_news) {
      doubt_all();  // until the probe has shown that the server is the one that is named
      return probe_.start_anew(now, events);
    }
    if (is_led_elsewhere_) probe_.start(now);
    return;
  }
  if (is_news) commands_.end({errc::unavailable, leads_on}, now, events);
  commands_.retry_now(now);
  commands_.open(now);
}

bool transport::accepts(connection& c, failure& why, time_point now, event_queue& events) {
  if (&c == &commands_) return accepts_commands(c.server(), why);
  const bool has_channel = !lineage_.leader().is_known() && !subscriptions_.own().empty();
  const bool is_unshown = awaits_listener_ || (has_channel && !c.server().has_listener);
  if (!commands_.is_ready() || (&c == &renewals_ && is_unshown)) {
    why = {errc::unavailable, "the connection that it follows was lost meanwhile"};
    awaits_commands_[static_cast<unsigned>(c.purpose())] = true;
    return false;
  }
  const action next = lineage_.judge_lane(c.server());
  if (&c == &messages_ && awaits_listener_) subscriptions_.renew_own(base::random_u64(env()));
  if (next == action::join) return true;
  why = {errc::unavailable, leads_on};
  if (next == action::move) leave(leads_on, now, events);
  return false;
}

bool transport::accepts_commands(const server_identity& s, failure& why) {
  if (s.is_sentinel) {
    why = {errc::bad_url, refusal_of_sentinel};
    return false;
  }
  if (!admits_strangers_ && lineage_.is_stranger(s)) {
    why = {errc::unavailable, without_history};
    has_refused_stranger_ = true;
    return false;
  }
  const std::string before = lineage_.leader().run_id;
  switch (lineage_.judge_commands(s)) {
    case action::join: return true;
    case action::join_stranger:
      reactor_.log().add(log_level::warning,
                         endpoint_.text + ": another server answers (run_id " +
                             std::string(short_id(s.run_id)) + ", before it " +
                             std::string(short_id(before)) +
                             "), and nothing shows that it has the data of the previous one: it "
                             "was restarted, or the name resolves to another server; locks that "
                             "are held are confirmed there, or lost");
      return true;
    case action::refuse: why = {errc::unavailable, lineage_.refusal_of(s)}; return false;
    default: why = {errc::unavailable, refusal_of_replica}; return false;
  }
}

// The commands have a server: connections to another one end.
void transport::follow_commands(time_point now, event_queue& events) {
  const server_identity& led = commands_.server();
  confirmed_at_ = now;
  const bool has_new_data = !lineage_.is_one_history(joined_history_, led.history) &&
                            !base::planted(base::mutant::leases_of_old_reign_kept);
  has_moved_ = joined_ && (!led.is_known() || *joined_ != led.run_id || has_new_data);
  if (has_moved_) clock_ = {};
  joined_ = led.run_id;
  joined_history_ = led.history;
  awaits_listener_ = !led.is_known();
  is_led_elsewhere_ = false;
  for (connection* c : {&messages_, &renewals_}) {
    // One that was accepted for the server before is not judged again when it becomes ready. One
    // that is being made to a server that was stopped would take the whole connect-timeout.
    const bool is_judged = c->is_ready() || ((c->is_introduced() || has_moved_) &&
                                             !base::planted(base::mutant::greeted_lane_kept));
    const bool is_new = c->is_down() || !is_judged;
    const bool stays = awaits_listener_ ? c->is_down() : is_new || c->server().is_same_process(led);
    if (!stays && !base::planted(base::mutant::lanes_at_two_servers))
      c->end({errc::unavailable, leads_on}, now, events);
    if (std::exchange(awaits_commands_[static_cast<unsigned>(c->purpose())], false)) c->open(now);
  }
  if (awaits_listener_) messages_.open(now);
}

// False: nothing can show that the connection for messages is to the commands' server, or the
// run_ids have.
bool transport::await_count(time_point now) {
  if (!awaits_listener_ || !commands_.is_ready()) return awaits_listener_;
  if (subscriptions_.own().empty()) return follow_messages(now), false;
  ++awaited_counts_;
  return submit(count_reply_, now,
                [&](request_writer& w) { w.plain("PUBLISH", subscriptions_.own(), "0"); });
}

// A count that was requested for an earlier connection for messages shows nothing of this one.
void transport::on_counted(const value& v, const reply_context& c) {
  if (--awaited_counts_ > 0 || !awaits_listener_ || !messages_.is_ready()) return;
  if (v.is_error("NOPERM")) {
    subscriptions_.drop_own();
    return on_listener_shown(c);
  }
  const bool is_refused = v.is(value::kind::error);
  const action next = is_refused ? action::retry : lineage_.judge_listener(v.integer() > 0);
  if (next == action::join) return on_listener_shown(c);
  if (next == action::move) return leave(leads_on, c.now, c.events);
  messages_.reject({errc::unavailable, leads_on}, c.now, c.events);
}

void transport::on_listener_shown(const reply_context& c) {
  follow_messages(c.now);
  if (!c.is_doubted && !std::exchange(is_confirmed_, true)) on_confirmed(c.now);
}

void transport::follow_messages(time_point now) {
  awaits_listener_ = false;
  if (std::exchange(awaits_commands_[static_cast<unsigned>(lane::renewals)], false))
    renewals_.open(now);
}

// Requests in flight were sent when the name may already have led elsewhere.
void transport::doubt_all() noexcept {
  is_confirmed_ = base::planted(base::mutant::reply_of_replaced_server);
  for (connection* c : lanes())
    if (!is_confirmed_) c->doubt_replies();
}

// By the alarm: on the loop of the renewals, a flush of the other loop would need the mutex again.
void transport::on_confirmed(time_point now) {
  for (request_source* s : sources_) s->on_agreed(now);
  tick_by(now);
}

void transport::leave(const char* why, time_point now, event_queue& events) {
  for (connection* c : lanes())
    if (c->is_ready()) c->end({errc::unavailable, why}, now, events);
}

void transport::on_demoted(time_point now, event_queue& events) {
  if (!base::planted(base::mutant::demoted_master_kept)) leave(refusal_of_replica, now, events);
}

void transport::on_probed(const server_identity& s, time_point now, event_queue& events) {
  if (!commands_.is_ready()) return;
  switch (lineage_.judge_probe(s, is_led_)) {
    case action::join:
      is_led_elsewhere_ = false;
      confirmed_at_ = now;
      if (!std::exchange(is_confirmed_, true)) on_confirmed(now);
      return;
    case action::move: return leave(leads_on, now, events);
    default: break;
  }
  // A stranger may follow the commands' server by a name that this has drawn since. An operator may
  // have returned to a master that was replaced, which the commands' server follows then.
  const bool is_returned = s.role == server_role::master &&
                           !base::planted(base::mutant::follower_of_returned_master_kept);
  if (is_returned || lineage_.is_stranger(s)) ask_again(s, now);
}

// The commands' server described itself when its connection was made.
void transport::ask_again(const server_identity& stranger, time_point now) {
  if (!lineage_.leader().is_known() || base::planted(base::mutant::own_history_not_asked)) return;
  stranger_ = stranger;
  submit(history_reply_, now, [](request_writer& w) { w.plain("INFO", "replication"); });
  tick_by(now);
}

void transport::on_told_again(const value& v, const reply_context& c) {
  if (!v.is(value::kind::text)) return;
  const action next = lineage_.judge_again(leader_now(v.text(), c), stranger_);
  if (next == action::move) leave(leads_on, c.now, c.events);
}

server_identity transport::leader_now(std::string_view replication, const reply_context& c) const {
  server_identity out = lineage_.leader();
  out.replicas.clear();
  out.asked_at = c.sent;
  out.told_at = c.now;
  read_replication(replication, out);
  return out;
}

// While nothing is held or awaited, nobody asks: the first use after that is asked about soon.
void transport::plan_probe(time_point last) {
  const bool can_compare = lineage_.leader().is_known() || !subscriptions_.own().empty();
  if (endpoint_.probe == duration::zero() || !can_compare) return;
  const time_point due = last + base::jittered(reactor_.env(), endpoint_.probe, 0.1);
  next_probe_ = std::max(due, reactor_.env().now());
  tick_by(next_probe_);
}

void transport::probe_if_due(time_point now) {
  if (next_probe_ == base::never) return;
  if (now < next_probe_) return tick_by(next_probe_);
  next_probe_ = base::never;
  if (!is_in_use()) return;
  if (commands_.is_ready() && !base::planted(base::mutant::name_not_probed)) probe_.start(now);
  plan_probe(now);
}

// With the master itself they are most of the servers.
void transport::note_replicas(std::size_t count) noexcept {
  known_replicas_ = std::max(known_replicas_, count);
  if (wait_ && endpoint_.by_majority)
    wait_->set_count(std::max<std::size_t>(1, (known_replicas_ + 1) / 2));
}

bool transport::is_commands_server(const server_identity& s) const {
  return commands_.is_ready() && s.is_same_process(lineage_.leader());
}

// If not, the client replaces all its connections and confirms each lease.
bool transport::still_reigns(std::string_view replication, const reply_context& c) {
  const bool reigns = lineage_.judge_own(leader_now(replication, c)) != action::move ||
                      base::planted(base::mutant::replies_of_old_reign_believed);
  if (!reigns) leave(was_replica, c.now, c.events);
  return reigns;
}

// Messages are held back one by one.
bool transport::holds_back(connection& c) noexcept {
  return wait_ && (&c != &messages_ || base::planted(base::mutant::messages_held_as_replies));
}

bool transport::has_held() const noexcept {
  return commands_.has_held() || renewals_.has_held() || !held_messages_.empty();
}

void transport::on_asked() {
  commands_.mark_received();
  renewals_.mark_received();
  marked_messages_ = held_messages_.size();
}

void transport::on_covered(time_point now, base::event_queue& events) {
  if (std::exchange(is_lacking_replicas_, false)) note_accepted(now);
  commands_.release_marked(now, events);
  renewals_.release_marked(now, events);
  // A handler may end the connection that they came over.
  const auto end = held_messages_.begin() + static_cast<std::ptrdiff_t>(marked_messages_);
  const std::vector<held_message> marked(std::move_iterator(held_messages_.begin()),
                                         std::move_iterator(end));
  held_messages_.erase(held_messages_.begin(), end);
  marked_messages_ = 0;
  for (const held_message& m : marked) subscriptions_.on_message(m.channel, m.payload, now, events);
}

void transport::on_commands_covered(time_point now, event_queue& events) {
  if (std::exchange(is_lacking_replicas_, false)) note_accepted(now);
  commands_.release_asked(now, events);
}

std::string transport::why_silent(const connection& c) const {
  if (!c.has_held()) return connection_owner::why_silent(c);
  if (is_lacking_replicas_) return std::string(reach_.refusal());
  return "the replicas have not confirmed what the server answered";
}

void transport::on_lacking(std::string why, time_point now) {
  is_lacking_replicas_ = true;
  note_refusal(std::move(why), now);
}

void transport::on_message(std::string_view channel, std::string_view payload, time_point now,
                           base::event_queue& events) {
  if (!wait_ || base::planted(base::mutant::push_before_replicas))
    return subscriptions_.on_message(channel, payload, now, events);
  held_messages_.push_back({std::string(channel), std::string(payload)});
  wait_->ask_at_once(now);
}

}  // namespace holdfast::redis
