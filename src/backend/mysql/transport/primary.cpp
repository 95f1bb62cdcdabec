// Which of several servers has the connections: the one that takes writes, if there is one alone.
//
// While nothing is connected, all servers of the URL are asked at once. A server that cannot be
// reached, or is read-only, is not the primary. If two take writes, no lock is granted: one of them
// was replaced by the other, or they do not replicate at all, and a client cannot know which. A
// silent server delays the choice by a quarter of the op-timeout.
#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "backend/mysql/transport/transport.hpp"
#include "base/mutant.hpp"

namespace holdfast::mysql {

using base::mutant;
using base::planted;

void transport::choose_primary(time_point now) {
  group& g = of(lane::commands);
  if (is_choosing()) return;
  if (now < g.retry_at) {
    reactor_.wake_by(g.retry_at);
    return;
  }
  choose_until_ = base::saturating_add(now, where_.op_timeout / 4);
  troubles_.assign(where_.servers.size(), {});
  for (std::size_t i = 0; i < where_.servers.size(); ++i)
    if (!open_one(lane::commands, i, now, troubles_[i])) reactor_.wake_by(now);
  reactor_.wake_by(choose_until_);
}

// After an answer, or at an alarm.
void transport::look_at_choice(time_point now, event_queue& events) {
  if (!is_choosing()) return;
  std::vector<session*> writable;
  bool is_awaited = false;
  for (const member& m : of(lane::commands).members) {
    session& s = *m.connection;
    is_awaited = is_awaited || !s.is_greeted();
    const auto is_of_same = [&](const session* w) { return w->server() == s.server(); };
    if (s.is_idle() && std::ranges::none_of(writable, is_of_same)) writable.push_back(&s);
  }
  if (is_awaited && (writable.empty() || now < choose_until_)) return;
  end_choice(writable, now, events);
}

void transport::end_choice(const std::vector<session*>& writable, time_point now,
                           event_queue& events) {
  choose_until_ = base::never;
  const bool is_sole = writable.size() == 1 || planted(mutant::second_primary_ignored);
  if (!writable.empty() && is_sole) {
    primary_ = writable.front()->server();
    for (const member& m : of(lane::commands).members)
      if (m.connection->server() != *primary_)
        m.connection->retire({errc::closed, "another server of the URL is the primary"});
    for (group& g : groups_) {
      g.failures = 0;
      g.retry_at = {};
    }
    on_greeted(*writable.front(), now, events);
    for (const lane l : {lane::renewals, lane::pinned}) serve(l, now, events);
    reactor_.wake_by(now);
    return;
  }
  const failure why = no_primary(writable);
  for (session* const s : writable) s->give_up(why);
  for (const lane l : {lane::commands, lane::pinned}) {
    note_failed(l, why, now);
    report_failed(l, false, now, events);
  }
}

failure transport::no_primary(const std::vector<session*>& writable) const {
  failure out{errc::unavailable, {}};
  if (!writable.empty()) {
    for (const session* const s : writable)
      out.text += (out.text.empty() ? "" : " and ") + base::text_of(where_.servers[s->server()]);
    out.text += " both accept writes; set read_only=ON on the one that is not the primary";
    return out;
  }
  for (std::size_t i = 0; i < troubles_.size(); ++i)
    out.text += (i == 0 ? "" : "; ") + base::text_of(where_.servers[i]) + ": " + troubles_[i].text;
  const auto is_same = [&](const failure& f) { return f.code == troubles_.front().code; };
  if (std::ranges::all_of(troubles_, is_same)) out.code = troubles_.front().code;
  return out;
}

// Each connection is closed once its statement is answered, and the locks that it holds are lost.
void transport::on_demoted(session& s, time_point now) {
  if (primary_ != s.server()) return;
  for (const group& g : groups_)
    for (const member& m : g.members)
      m.connection->retire({errc::unavailable, "the server is read-only, as a replica is"});
  if (where_.servers.size() > 1) leave_primary(now);
  reactor_.wake_by(now);  // on_alarm() has both loops flushed
}

// The choice of another one begins with the next demand, without a pause.
void transport::leave_primary(time_point now) noexcept {
  primary_.reset();
  of(lane::commands).retry_at = now;
}

}  // namespace holdfast::mysql
