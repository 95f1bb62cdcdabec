// A link's renewals. They go over a connection of their own; while that cannot be had, they go with
// the commands: a renewal that waits behind other requests is better than a lost lock.
#include <algorithm>
#include <utility>

#include "backend/redis/claim.hpp"
#include "backend/redis/link.hpp"
#include "backend/redis/link_answers.hpp"
#include "base/mutant.hpp"

namespace holdfast::redis {

using core::event_queue;

void link::renew(claim& c) {
  if (std::exchange(c.renewing, true)) return;
  to_renew_.push_back(c.place());
  if (to_renew_.size() > 1) return;
  over_.open(lane::renewals, env().now());
  if (renewals_go_with_commands()) return over_.tick_by(env().now());  // on_tick() writes them
  over_.request_flush(lane::renewals, true);
}

// It failed and has not been ready since: a server at its maxclients, no descriptor, no thread.
bool link::renewals_go_with_commands() const noexcept {
  return !to_renew_.empty() && over_.has_failed(lane::renewals) &&
         !over_.is_ready(lane::renewals) && over_.is_ready(lane::commands) &&
         !core::planted(core::mutant::renewals_wait_for_their_connection);
}

// host|pid|since|note
std::string link::about_holder(const claim& c) const {
  const auto since = std::chrono::floor<std::chrono::milliseconds>(env().wall()).count();
  std::string out = settings_.host;
  std::replace(out.begin(), out.end(), '|', '?');
  out += '|' + std::to_string(settings_.process) + '|' + std::to_string(since) + '|';
  return out.append(c.note());
}

struct link::round {  // renewals that go out in one write
  batch<link>* made = nullptr;
  std::vector<owner_text> owners;
  std::vector<std::string> notes;
  std::vector<renewal> all;
};

void link::add_renewal(round& to, claim& c) {
  to.owners.push_back(owner_of(c));
  c.noted = true;
  to.notes.push_back(c.told_of_holder ? std::string() : about_holder(c));
  to.all.push_back({c.lock(), view(to.owners.back()), c.recipe().ttl(), to.notes.back()});
  batch_member m;
  m.whose = c.place();
  m.epoch = c.recipe().epoch();
  m.ticket = c.ticket();
  m.ttl = c.recipe().ttl();
  to.made->members.push_back(m);
}

void link::send_renewals(round& those, bool of_members, request_writer& to, time_point now) {
  if (those.all.empty()) return pool_.give_back(*those.made);
  append_renewals(to, those.all, of_members);
  ++renewals_in_flight_;
  to.expect(*those.made, 1, now, attended::by_nobody);
}

// As many as the server may have before it: a hundred thousand at once would need room for all of
// them, and answers bring the next round. Who has left the lock meanwhile needs none any more.
void link::write_renewals(request_writer& to, time_point now) {
  constexpr std::size_t batch_max = 256, batches_max = 16;
  while (!to_renew_.empty() && renewals_in_flight_ < batches_max) {
    round those[2];  // of who holds a lock alone, of members
    for (const bool of_members : {false, true}) {
      round& r = those[of_members];
      r.made = &pool_.take(operation::renew, now);
      r.made->of_members = of_members;
      r.owners.reserve(batch_max);  // others keep views into these
      r.notes.reserve(batch_max);
    }
    for (std::size_t n = 0; !to_renew_.empty() && n < batch_max; to_renew_.pop_front()) {
      claim* const c = claims_.at(to_renew_.front());
      if (!c || !std::exchange(c->renewing, false)) continue;
      if (c->recipe().now_in() != recipe::state::held) continue;
      add_renewal(those[c->recipe().how() != lock_mode::exclusive], *c);
      ++n;
    }
    for (const bool of_members : {false, true})
      send_renewals(those[of_members], of_members, to, now);
  }
}

void link::repeat_renewals(batch<link>& those) {
  for (const batch_member& m : those.members)
    if (claim* const c = claims_.at(m.whose)) renew(*c);
  end_renewals(those);
}

void link::answer_renewals(batch<link>& those, const value& v, const reply_context& context) {
  const time_point now = context.now, sent = context.sent;
  const server_time at = server_time_of(v[0].integer());
  const bool is_told = v.size() == those.members.size() + 1;
  const duration jump = is_told ? over_.clock_jump(sent, at, now) : duration::zero();
  for (std::size_t i = 0; is_told && i < those.members.size(); ++i) {
    const batch_member& m = those.members[i];
    claim* const c = claims_.at(m.whose);
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
    if (r.what == reply::verdict::done && r.epoch == c->recipe().epoch()) c->told_of_holder = true;
    c->on_reply(r, {}, now, context.events);
  }
  end_renewals(those);
}

void link::end_renewals(batch<link>& those) noexcept {
  --renewals_in_flight_;
  pool_.give_back(those);
  if (renewals_go_with_commands()) over_.tick_by(env().now());
}

}  // namespace holdfast::redis
