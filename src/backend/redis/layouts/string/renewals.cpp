#include "backend/redis/layouts/string/renewals.hpp"

#include <utility>

#include "backend/redis/layouts/string/string_layout.hpp"
#include "base/mutant.hpp"

namespace holdfast::redis {

void renewals::add(claim& c) {
  if (std::exchange(c.renewing, true)) return;
  waiting_.push_back(c.place());
  if (waiting_.size() > 1) return;
  const time_point now = home_.env().now();
  home_.over().open(lane::renewals, now);
  if (go_with_commands()) return home_.over().tick_by(now);  // they are written then
  home_.over().request_flush(lane::renewals, true);
}

// It failed and has not been ready since: a server at its maxclients, no descriptor, no thread.
bool renewals::go_with_commands() const noexcept {
  const transport& over = home_.over();
  return !waiting_.empty() && over.has_failed(lane::renewals) && !over.is_ready(lane::renewals) &&
         over.is_ready(lane::commands) &&
         !core::planted(core::mutant::renewals_wait_for_their_connection);
}

struct renewals::round {  // renewals that go out in one write
  request* made = nullptr;
  std::vector<owner_text> owners;
  std::vector<std::string> notes;
  std::vector<renewal> all;
};

void renewals::add_to(round& to, claim& c) {
  to.owners.push_back(home_.owner_of(c));
  c.info_may_be_stored = true;
  to.notes.push_back(c.info_stored ? std::string() : home_.holder_info(c));
  to.all.push_back({c.lock(), view(to.owners.back()), c.recipe().ttl(), to.notes.back()});
  batch_member m;
  m.whose = c.place();
  m.epoch = c.recipe().epoch();
  m.ticket = c.ticket();
  m.ttl = c.recipe().ttl();
  to.made->members.push_back(m);
}

void renewals::send(round& those, bool of_members, request_writer& to, time_point now) {
  if (those.all.empty()) return home_.batches().give_back(*those.made);
  append_renewals(to, those.all, of_members);
  ++in_flight_;
  to.expect(*those.made, 1, now, attended::by_nobody);
}

// At most so many are in flight: a hundred thousand at once would need room for all of them.
// Replies bring the next round. A claim that was released meanwhile needs none.
void renewals::write(request_writer& to, time_point now) {
  constexpr std::size_t batch_max = 256, batches_max = 16;
  while (!waiting_.empty() && in_flight_ < batches_max) {
    round those[2];  // of exclusive holders, of members
    for (const bool of_members : {false, true}) {
      round& r = those[of_members];
      r.made = &home_.batches().take(operation::renew, now);
      r.made->of_members = of_members;
      r.owners.reserve(batch_max);  // others keep views into these
      r.notes.reserve(batch_max);
    }
    for (std::size_t n = 0; !waiting_.empty() && n < batch_max; waiting_.pop_front()) {
      claim* const c = home_.claims().at(waiting_.front());
      if (!c || !std::exchange(c->renewing, false)) continue;
      if (c->recipe().now_in() != queueing_recipe::state::held) continue;
      add_to(those[c->recipe().mode() != lock_mode::exclusive], *c);
      ++n;
    }
    for (const bool of_members : {false, true}) send(those[of_members], of_members, to, now);
  }
}

void renewals::on_not_executed(request& those) {
  for (const batch_member& m : those.members)
    if (claim* const c = home_.claims().at(m.whose)) add(*c);
  end(those);
}

void renewals::on_reply(request& those, const value& v, const reply_context& context) {
  const time_point now = context.now, sent = context.sent;
  const server_time at = server_time_of(v[0].integer());
  const bool is_told = v.size() == those.members.size() + 1;
  const duration jump = is_told ? home_.over().clock_jump(sent, at, now) : duration::zero();
  for (std::size_t i = 0; is_told && i < those.members.size(); ++i) {
    const batch_member& m = those.members[i];
    claim* const c = home_.claims().at(m.whose);
    if (!c) continue;
    reply r;
    r.to = operation::renew;
    r.epoch = m.epoch;
    r.ticket = m.ticket;
    r.ttl = m.ttl;
    r.sent = sent;
    const std::int64_t state = v[i + 1].integer();
    const bool is_gone = state == 0 || state == 2;
    r.what = state == 1 ? reply::verdict::done
             : is_gone  ? reply::verdict::not_owner
                        : reply::verdict::not_now;
    if (is_gone) r.why = state == 2 ? errc::not_held : errc::lost;
    // The server has seen more time pass than this machine: it was stopped whole, and what it
    // believes to hold may have been another's meanwhile.
    if (grant_rules::is_clock_jump(jump, m.ttl)) {
      r.what = reply::verdict::not_owner;
      r.why = errc::timed_out;
    }
    if (r.what == reply::verdict::done && r.epoch == c->recipe().epoch()) c->info_stored = true;
    c->on_reply(r, {}, now, context.events);
  }
  end(those);
}

void renewals::end(request& those) noexcept {
  --in_flight_;
  home_.batches().give_back(those);
  if (go_with_commands()) home_.over().tick_by(home_.env().now());
}

}  // namespace holdfast::redis
