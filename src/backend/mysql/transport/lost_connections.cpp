// Lost connections: each is killed by its id until the server no longer knows it. KILL returns
// before the thread of the server has ended, so its success proves nothing.
#include <algorithm>
#include <chrono>

#include "backend/mysql/transport/error_text.hpp"
#include "backend/mysql/transport/statement.hpp"
#include "backend/mysql/transport/transport.hpp"
#include "base/mutant.hpp"

namespace holdfast::mysql {

using base::mutant;
using base::planted;
using namespace std::chrono_literals;

namespace {

// Longer than any statement was ever delayed by a network.
constexpr duration late_statement_max = 2min;
// Two readings of a server's uptime, which counts whole seconds, differ by less.
constexpr duration same_start = 3s;

}  // namespace

bool transport::is_final(time_point now) const noexcept {
  return kills_.empty() && now >= unverified_until_;
}

void transport::add_kill(const session& s, time_point now) {
  if (s.id() == 0 || s.of() == lane::renewals) return;
  const auto is_known = [&](const kill& k) {
    return k.id == s.id() && k.server == s.server() && k.connected_at == s.connected_at();
  };
  if (std::ranges::any_of(kills_, is_known)) return;
  kills_.push_back({.id = s.id(),
                    .server = s.server(),
                    .connected_at = s.connected_at(),
                    .booted = s.booted(),
                    .harmless_at = base::saturating_add(now, late_statement_max)});
  reactor_.wake_by(now);
}

// Ids begin again when a server starts, and this id may be a stranger's by then. A server that
// started since has ended all connections of the one before.
void transport::send_kill(time_point now) {
  if (is_killing_) return;
  member* const m = free_member(lane::commands);
  if (!m) return;
  kill& k = kills_.front();
  if (k.tried_until == base::never) k.tried_until = now + 2 * where_.op_timeout;
  const duration apart = m->connection->booted() - k.booted;
  const bool is_same_place = m->connection->server() == k.server;
  const bool is_other_server = !is_same_place || apart > same_start || apart < -same_start;
  is_killing_ = true;
  m->forget_order();
  const std::string statement =
      is_other_server ? "DO 0" : bound("KILL ?", {static_cast<std::int64_t>(k.id)});
  kills_other_server_ = is_other_server;
  has_restarted_ = is_same_place && m->connection->booted() - same_start > k.connected_at;
  m->connection->execute(statement, kills_by_, now, base::saturating_add(now, where_.op_timeout));
}

void transport::on_killed(const sql_reply& r, const reply_context& c) {
  is_killing_ = false;
  if (kills_.empty()) return;
  if (kills_other_server_) return finish_kill(has_restarted_, c.now, c.events);
  if (r.error == error::no_such_thread || planted(mutant::kill_believed_at_once))
    return finish_kill(true, c.now, c.events);
  const bool goes_on = r.is_ok() && c.now < kills_.front().until();
  if (!goes_on) finish_kill(false, c.now, c.events);
}

// An outage takes no time from the KILLs after it.
void transport::on_kill_cut() noexcept {
  is_killing_ = false;
  if (!kills_.empty()) kills_.front().tried_until = base::never;
}

void transport::finish_kill(bool is_certain, time_point now, event_queue& events) {
  const kill ended = kills_.front();
  kills_.pop_front();
  if (!is_certain) unverified_until_ = std::max(unverified_until_, ended.harmless_at);
  user_.on_dead(ended.id, is_certain, now, events);
  if (kills_.empty()) serve(lane::commands, now, events);
}

}  // namespace holdfast::mysql
