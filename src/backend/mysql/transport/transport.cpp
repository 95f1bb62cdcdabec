#include "backend/mysql/transport/transport.hpp"

#include <algorithm>
#include <chrono>
#include <unordered_set>
#include <utility>

#include "backend/mysql/transport/error_text.hpp"
#include "backend/mysql/transport/mariadb_connector.hpp"
#include "base/fail.hpp"
#include "base/mutant.hpp"
#include "seam/client_options.hpp"

namespace holdfast::mysql {

using base::mutant;
using base::planted;
using namespace std::chrono_literals;

namespace {

constexpr lane all_lanes[] = {lane::commands, lane::renewals, lane::pinned};
constexpr duration retry_max = 2s;

bool is_final_failure(const failure& why) noexcept {
  return why.code == errc::refused || why.code == errc::unsupported ||
         why.code == errc::bad_option || why.code == errc::mismatch;
}

}  // namespace

transport::transport(base::environment& env, const endpoint& where, transport_user& user,
                     bounds limit, const connector_maker& over)
    : reactor_(env, {"holdfast-mysql", "holdfast-my-io", "holdfast-my-own"}, where.text),
      where_(where),
      user_(user),
      over_(over ? over(reactor_, where_) : std::make_unique<mariadb_connector>(reactor_, where_)) {
  if (where_.servers.size() == 1) primary_ = 0;
  of(lane::commands).most = limit.commands;
  of(lane::renewals).most = 1;
  of(lane::pinned).most = limit.pinned;
  const std::lock_guard guard(mutex());
  reactor_.log().write_to(where.log);
  reactor_.add(*this);
}

transport::~transport() { stop(); }

void transport::stop() noexcept {
  if (!is_forked()) over_->stop();
  reactor_.stop();
}

transport::member* transport::member_of(const session& s) noexcept {
  auto& all = of(s.of()).members;
  const auto found =
      std::ranges::find_if(all, [&](const member& m) { return m.connection.get() == &s; });
  return found == all.end() ? nullptr : &*found;
}

bool transport::has_ready(lane l) const noexcept {
  return std::ranges::any_of(of(l).members,
                             [](const member& m) { return m.connection->is_greeted(); });
}

bool transport::has_ready() const noexcept {
  return std::ranges::any_of(all_lanes, [&](lane l) { return has_ready(l); });
}

transport::member* transport::free_member(lane l) noexcept {
  if (!primary_) return nullptr;
  auto& all = of(l).members;
  const auto found = std::ranges::find_if(all, &member::is_free);
  return found == all.end() ? nullptr : &*found;
}

void transport::drop_unwanted(group& g) noexcept {
  while (!g.queue.empty() && g.queue.front().handler && !g.queue.front().handler->has_requester()) {
    statement_handler& h = *g.queue.front().handler;
    g.queue.pop_front();
    h.on_dropped();
  }
}

void transport::submit(lane l, sql_statement statement, statement_handler& h, time_point now,
                       std::size_t order, const std::vector<std::size_t>* orders) {
  of(l).queue.push_back({{&h, std::move(statement), order, orders}});
  serve_statements(l, now);
  if (l == lane::renewals) reactor_.request_flush_of_own_loop(true);
}

// No caller waits for the reply. Over a connection of the commands, the loop of the callers is
// driven in the background for it from the alarm on.
void transport::submit_renewal(sql_statement statement, statement_handler& h, time_point now,
                               std::size_t order) {
  const bool has_failed = of(lane::renewals).failures > 0 && !has_ready(lane::renewals);
  submit(has_failed ? lane::commands : lane::renewals, std::move(statement), h, now, order);
  if (has_failed) tick_by(now);
}

// Over two connections a try could overtake the release before it.
bool transport::may_start(const group& g, std::size_t at) noexcept {
  const job& next = g.queue[at];
  if (next.order == 0 || planted(mutant::statements_overtake)) return true;
  const auto meets = [&](const auto& other) {
    if (!next.orders && !other.orders) return next.order == other.order;
    const auto is_of_next = [&](std::size_t order) {
      return next.orders ? std::ranges::find(*next.orders, order) != next.orders->end()
                         : order == next.order;
    };
    return other.orders ? std::ranges::any_of(*other.orders, is_of_next) : is_of_next(other.order);
  };
  const auto runs = [&](const member& m) { return m.connection->is_busy() && meets(m); };
  const auto is_before = [&](const job& j) { return meets(j); };
  const auto end = g.queue.begin() + static_cast<std::ptrdiff_t>(at);
  return std::ranges::none_of(g.members, runs) && std::none_of(g.queue.begin(), end, is_before);
}

void transport::serve_statements(lane l, time_point now) {
  if (l == lane::pinned) return;
  group& g = of(l);
  drop_unwanted(g);
  const bool kills_first = l == lane::commands && !kills_.empty();
  if (kills_first && !planted(mutant::lost_mysql_connection_not_killed)) send_kill(now);
  const bool waits = kills_first && !planted(mutant::lost_mysql_connection_not_killed);
  for (std::size_t at = 0; !waits && at < g.queue.size();) {
    member* const m = free_member(l);
    if (!m) break;
    if (!may_start(g, at)) {
      ++at;
      continue;
    }
    execute(g, at, *m, now);
    drop_unwanted(g);
  }
  open_more(l, now);
}

void transport::serve_pins(time_point now, event_queue& events) {
  group& g = of(lane::pinned);
  while (!g.queue.empty()) {
    member* const m = free_member(lane::pinned);
    if (!m) break;
    pin_handler& h = *g.queue.front().pins;
    g.queue.pop_front();
    m->is_pinned = true;
    m->pinned_by = &h;
    h.on_pinned(*m->connection, now, events);
  }
  open_more(lane::pinned, now);
  const bool all_are_pinned = std::ranges::all_of(g.members, &member::is_pinned);
  if (g.members.size() >= g.most && all_are_pinned)
    fail_pins({errc::unavailable, exhausted_text()}, true, now, events);
}

void transport::serve(lane l, time_point now, event_queue& events) {
  l == lane::pinned ? serve_pins(now, events) : serve_statements(l, now);
}

std::string transport::exhausted_text() const {
  return "all " + std::to_string(of(lane::pinned).most) +
         " connections of this client wait for locks or hold them; raise connections= in the URL";
}

failure transport::pin_failure() const {
  failure out = last_failure_;
  const bool is_full = out.text.find("raise max_connections") != out.text.npos;
  for (const member& m : of(lane::commands).members)
    if (is_full && m.connection->is_greeted())
      return {errc::unavailable, out.text + " (" + std::to_string(m.connection->max_connections()) +
                                     " now), or lower connections= in the URLs of its clients"};
  return out;
}

void transport::fail_pins(const failure& why, bool is_final, time_point now, event_queue& events) {
  for (const job& j : std::exchange(of(lane::pinned).queue, {}))
    j.pins->on_pin_failed(why, is_final, now, events);
}

session* transport::pin(pin_handler& h, time_point now) {
  if (member* const m = free_member(lane::pinned)) {
    m->is_pinned = true;
    m->pinned_by = &h;
    return m->connection.get();
  }
  of(lane::pinned).queue.push_back({{}, &h});
  open_more(lane::pinned, now);
  if (of(lane::pinned).members.size() >= of(lane::pinned).most) reactor_.wake_by(now);
  return nullptr;
}

void transport::forget_pin(pin_handler& h) noexcept {
  std::erase_if(of(lane::pinned).queue, [&](const job& j) { return j.pins == &h; });
}

void transport::run(session& s, sql_statement statement, statement_handler& h, time_point now,
                    time_point due) {
  s.execute(std::move(statement), h, now, due);
  reactor_.wake_by(due);
}

void transport::unpin(session& s, time_point now) {
  member& m = *member_of(s);
  m.is_pinned = false;
  m.pinned_by = nullptr;
  if (!of(lane::pinned).queue.empty()) reactor_.wake_by(now);
}

void transport::abandon(session& s, time_point now) {
  member_of(s)->pinned_by = nullptr;
  add_kill(s, now);
  s.close();
}

// An outage is over when a connection is greeted, whether or not a statement waits for that.
bool transport::returns(lane l) const noexcept {
  const bool is_out = was_ready_ && is_unavailable() && !is_final_failure(last_failure_);
  return l == lane::commands && is_out && !planted(mutant::mysql_outage_awaits_demand);
}

// Jobs of the queue for which a connection is missing, and not another statement's end.
std::size_t transport::startable(const group& g) {
  if (g.queue.empty()) return 0;
  std::unordered_set<std::size_t> taken;
  const auto take = [&](const auto& of) {
    bool is_free = true;
    const auto take_one = [&](std::size_t order) {
      if (order != 0) is_free = taken.insert(order).second && is_free;
    };
    if (!of.orders) take_one(of.order);
    if (of.orders) std::ranges::for_each(*of.orders, take_one);
    return is_free || planted(mutant::statements_overtake);
  };
  for (const member& m : g.members)
    if (m.connection->is_busy()) take(m);
  return static_cast<std::size_t>(std::ranges::count_if(g.queue, take));
}

void transport::open_more(lane l, time_point now) {
  group& g = of(l);
  const bool kills = l == lane::commands && !kills_.empty() && !is_killing_;
  const bool is_first = l == lane::commands && !was_ready_ && !refused_;
  const bool needs_one = kills || is_first || returns(l);
  if (!primary_ && (needs_one || !g.queue.empty())) return choose_primary(now);
  if (g.members.size() >= g.most) return;
  const auto opening =
      static_cast<std::size_t>(std::ranges::count_if(g.members, [](const member& m) {
        return !m.connection->is_greeted();
      }));
  std::size_t wanted = std::max<std::size_t>(startable(g), needs_one ? 1 : 0);
  if (g.failures > 0) wanted = std::min<std::size_t>(wanted, 1);
  for (std::size_t n = opening; n < wanted && g.members.size() < g.most; ++n) {
    if (now < g.retry_at) {
      reactor_.wake_by(g.retry_at);
      return;
    }
    failure why;
    if (!open_one(l, *primary_, now, why)) {
      note_failed(l, why, now);
      reactor_.wake_by(now);  // on_alarm() reports it
      return;
    }
  }
}

bool transport::open_one(lane l, std::size_t server, time_point now, failure& why) {
  auto made = std::make_unique<session>(host(), where_, l, server);
  const bool is_opening = made->open(*over_, now, why);
  if (is_opening) of(l).members.push_back({std::move(made)});
  if (!is_opening && !was_ready_) refused_ = why;
  return is_opening;
}

void transport::on_greeted(session& s, time_point now, event_queue& events) {
  if (!primary_ && s.of() == lane::commands) return look_at_choice(now, events);
  const bool is_elsewhere = !primary_ || s.server() != *primary_;
  if (is_elsewhere && !planted(mutant::mysql_servers_mixed))
    return s.give_up({errc::unavailable, "another server of the URL is the primary"});
  group& g = of(s.of());
  g.failures = 0;
  g.retry_at = {};
  if (s.of() != lane::renewals) note_up(now);
  if (s.of() == lane::commands) {
    if (!std::exchange(was_ready_, true)) user_.on_ready(now, events);
  }
  serve(s.of(), now, events);
}

// An overdue renewal begins an outage in which no connection for commands is lost. Then no greeting
// follows, and a reply ends the outage.
void transport::on_free(session& s, time_point now, event_queue& events) {
  if (s.of() != lane::renewals) note_up(now);
  member* const m = member_of(s);
  if (!m || m->is_pinned) return;
  m->forget_order();
  serve(s.of(), now, events);
}

void transport::on_ended(session& s, const failure& why, time_point now, event_queue& events) {
  const lane l = s.of();
  member& m = *member_of(s);
  pin_handler* const pinned_by = std::exchange(m.pinned_by, nullptr);
  const bool was_there = s.id() != 0;
  // It holds no lock, and the server closes a connection that is idle for long.
  const bool is_spare = l == lane::pinned && s.was_greeted() && !m.is_pinned;
  const bool was_choice = !primary_ && l == lane::commands && !s.was_greeted();
  const std::unique_ptr<session> last = std::move(m.connection);
  std::erase_if(of(l).members, [](const member& each) { return !each.connection; });
  if (pinned_by) pinned_by->on_pin_lost(why, now, events);
  if (was_choice) {
    if (is_choosing()) troubles_[s.server()] = why;
    return look_at_choice(now, events);
  }
  if ((why.code != errc::closed || !was_there) && !is_spare) {
    const bool counts = !s.was_greeted() || of(l).failures == 0;
    counts ? note_failed(l, why, now) : note_trouble(l, why, now);
  }
  const bool is_current = where_.servers.size() > 1 && primary_ == s.server();
  if (is_current && !s.was_greeted() && s.is_read_only()) on_demoted(s, now);
  if (is_current && !has_ready()) leave_primary(now);
  report_failed(l, was_there, now, events);
  serve(l, now, events);
  if (l == lane::commands) return;
  serve(lane::commands, now, events);
  reactor_.wake_by(now);  // on_alarm() has the loop of callers flushed
}

// The next attempt follows at once after the first loss, then after pauses. Connections that are
// lost together count as one failure: only failed attempts make the pauses longer.
void transport::note_failed(lane l, const failure& why, time_point now) {
  group& g = of(l);
  const duration pause =
      g.failures == 0 ? duration{}
                      : std::min(retry_max, where_.retry_base * (1 << std::min(g.failures, 10u)));
  ++g.failures;
  g.retry_at = now + base::jittered(env(), pause, 0.25);
  note_trouble(l, why, now);
}

void transport::note_trouble(lane l, const failure& why, time_point now) {
  group& g = of(l);
  g.has_failed = true;
  last_failure_ = why;
  failed_at_ = now;
  reactor_.wake_by(g.retry_at);
}

void transport::report_failed(lane l, bool was_there, time_point now, event_queue& events) {
  // A connection that a claim has serves no other claim.
  const bool has_one = l == lane::pinned ? free_member(l) != nullptr : has_ready(l);
  if (!std::exchange(of(l).has_failed, false) || has_one) return;
  const bool is_final = is_final_failure(last_failure_);
  if (l == lane::commands) {
    note_down(last_failure_, now);
    refused_ = last_failure_;
    const loss kind = is_final ? loss::refused : was_there ? loss::lost : loss::not_reached;
    user_.on_down(last_failure_, kind, now, events);
  }
  if (l != lane::pinned || was_there) return;
  probe(now);
  fail_pins(pin_failure(), is_final || is_shortage(last_failure_), now, events);
}

// An outage is known by the commands. Claims that find no connection may have sent none of them.
void transport::probe(time_point now) {
  if (is_unavailable() || std::exchange(is_probing_, true)) return;
  submit(lane::commands, "DO 0", probed_by_, now);
}

void transport::on_alarm(time_point now, event_queue& events) {
  end_overdue(now);
  look_at_choice(now, events);
  for (const lane l : all_lanes) {
    report_failed(l, false, now, events);
    serve(l, now, events);
  }
  if (!is_killing_ && !kills_.empty() && kills_.front().until() <= now)
    finish_kill(false, now, events);
  user_.on_tick(now, events);
  reactor_.request_flush_of_own_loop(true);
}

// A statement whose reply is overdue is cut with its connection.
void transport::end_overdue(time_point now) {
  time_point next = base::never;
  for (const lane l : all_lanes) {
    for (const member& m : of(l).members) {
      if (m.connection->due() > now) {
        next = std::min(next, m.connection->due());
      } else if (!planted(mutant::overdue_statement_awaited)) {
        note_down({errc::unavailable, "the server does not answer"}, now);
        m.connection->give_up({errc::unavailable, "the server does not answer"});
      }
    }
    if (of(l).retry_at > now && !of(l).queue.empty()) next = std::min(next, of(l).retry_at);
  }
  if (!kills_.empty() && !is_killing_) next = std::min(next, kills_.front().until());
  reactor_.wake_by(next);
}

// Greetings and KILLs have no claim that waits for them, nor have withdrawals, and renewals that
// share the commands' connections.
bool transport::has_unattended_replies() const noexcept {
  const auto is_opening = [](const member& m) { return !m.connection->is_greeted(); };
  const auto awaits_reply = [&](const member& m) {
    return is_opening(m) || m.connection->is_busy();
  };
  return std::ranges::any_of(of(lane::commands).members, awaits_reply) ||
         std::ranges::any_of(of(lane::pinned).members, is_opening);
}

// An attempt out of turn does not make the pause after it longer: many callers with a short bound
// would keep a client away from a server that is back.
void transport::retry_by(time_point t) {
  for (group& g : groups_) {
    if (g.retry_at <= t) continue;
    if (g.failures > 1) --g.failures;
    g.retry_at = t;
  }
  reactor_.wake_by(t);
}

class transport::first_session final : public io::blocking_wait {
 public:
  first_session(transport& t, time_point until) noexcept : io::blocking_wait(until), home_(t) {}

 private:
  std::optional<failure> outcome(bool is_overdue) override {
    if (home_.was_ready_)
      if (std::optional<failure> opened = home_.user_.opened()) return opened;
    if (home_.refused_ && !home_.was_ready_) return home_.refused_;
    if (!is_overdue) return std::nullopt;
    const std::string& last = home_.last_failure_.text;
    return failure{errc::unavailable, last.empty() ? "no answer within the op-timeout" : last};
  }
  transport& home_;
};

void transport::open(std::stop_token stop) {
  const time_point until = base::saturating_add(env().now(), where_.op_timeout);
  first_session w(*this, until);
  const auto begin = [&](time_point now, event_queue&) {
    reactor_.begin(w);
    reactor_.wake_by(until);
    open_more(lane::commands, now);
  };
  reactor_.run(begin, true);
  reactor_.driver() ? reactor_.wait(w, std::move(stop)) : reactor_.abandon(w);
  if (w.why().code) throw lock_error(w.why().code, {"open", {}, where_.text, w.why().text});
}

void transport::note_down(const failure& why, time_point now) {
  last_failure_ = why;
  failed_at_ = now;
  if (is_unavailable_.exchange(true, std::memory_order_relaxed)) return;
  out_since_ = now;
  if (was_ready_)
    reactor_.log().add(log_level::warning,
                       "the connection to " + where_.text + " is lost: " + why.text);
}

void transport::note_up(time_point now) {
  if (!is_unavailable_.exchange(false, std::memory_order_relaxed)) return;
  const duration out = now - std::exchange(out_since_, base::never);
  if (!was_ready_) return;
  ++reconnects_;
  reactor_.log().add(log_level::warning,
                     "connected to " + where_.text + " again after " + base::text_of(out));
}

seam::connection_status transport::read_status() const {
  seam::connection_status out;
  out.connected = !is_unavailable();
  out.reconnects = reconnects_;
  if (!last_failure_.text.empty())
    out.last_failure = base::text_of(env().now() - failed_at_) + " ago: " + last_failure_.text;
  if (is_unavailable()) out.trouble = {errc::unavailable, last_failure_.text};
  return out;
}

std::string transport::reason(errc why) const {
  if (why != errc::unavailable && why != errc::outcome_unknown) return {};
  return last_failure_.text.empty() ? "no answer within the op-timeout" : last_failure_.text;
}

}  // namespace holdfast::mysql
