#include "backend/redis/layouts/string/renewals.hpp"

#include <deque>
#include <string>
#include <vector>

#include "backend/redis/layouts/string/string_layout.hpp"
#include "backend/redis/layouts/string/string_node.hpp"

namespace holdfast::redis {

struct renewals::round {  // renewals that go out in one request
  request* made = nullptr;
  std::deque<owner_text> owners;  // `all` has views into these
  std::deque<std::string> notes;
  std::vector<renewal_arguments> all;
};

void renewals::add_to(round& to, claim& c) {
  to.owners.push_back(node_.home().owner_of(c));
  c.info_may_be_stored = true;
  to.notes.push_back(c.info_stored ? std::string() : node_.home().holder_info(c));
  to.all.push_back({c.lock(), view(to.owners.back()), c.recipe().ttl(), to.notes.back()});
  to.made->members.push_back({.whose = c.place(),
                              .epoch = c.recipe().epoch(),
                              .ticket = c.ticket(),
                              .ttl = c.recipe().ttl()});
}

// Exclusive holders and members apart, and in a cluster the locks of each slot.
renewals::round& renewals::round_for(std::list<round>& all, const claim& c, time_point now) {
  const bool of_members = c.recipe().mode() != lock_mode::exclusive;
  for (round& r : all)
    if (r.made->of_members == of_members && r.made->slot == c.slot) return r;
  round& r = all.emplace_back();
  r.made = &pool_.take(operation::renew, now);
  r.made->of_members = of_members;
  r.made->slot = c.slot;
  return r;
}

void renewals::write(request_writer& to, time_point now) {
  while (node_.renewals_due().may_write()) {
    std::list<round> those;
    node_.renewals_due().take_batch(node_.claims(), [&](claim& c) {
      const bool is_held = c.recipe().is_held();
      if (is_held) add_to(round_for(those, c, now), c);
      return is_held;
    });
    for (const bool of_members : {false, true})
      for (round& r : those) {
        if (r.made->of_members != of_members) continue;
        append_renewals(to, r.all, of_members);
        node_.renewals_due().on_sent();
        to.expect(*r.made, 1, now, attended::in_background);
      }
  }
}

bool renewals::keys_move() const noexcept { return node_.home().keys_move(); }

void renewals::on_redirected(request& those, const redirection& to, const reply_context& c) {
  for (const batch_member& m : those.members)
    if (const claim* const requester = node_.claims().at(m.whose))
      node_.send_again(*requester, operation::renew, to, c.now);
  end(those);
}

void renewals::on_script_missing(request& those, const reply_context&) {
  for (const batch_member& m : those.members)
    if (claim* const c = node_.claims().at(m.whose)) node_.renew(*c);
  end(those);
}

void renewals::on_reply(request& those, const value& v, const reply_context& context) {
  const time_point now = context.now, sent = context.sent;
  if (v.is(value::kind::error)) node_.over().note_refused_request(now);
  const server_time at = server_time_of(v[0].integer());
  const bool is_complete = v.size() == those.members.size() + 1;
  server_clock& clock = node_.over().clock();
  const time_point jumped_since = clock.jump_since();
  const duration jump = is_complete ? clock.jump(sent, at, context.received) : duration::zero();
  for (std::size_t i = 0; is_complete && i < those.members.size(); ++i) {
    const batch_member& m = those.members[i];
    claim* const c = node_.claims().at(m.whose);
    if (!c || node_.has_left(*c)) continue;
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
    // believes to hold may have been another's meanwhile. A grant that arrived since the clocks
    // were last compared may be younger than that.
    const bool was_held = c->recipe().granted().received_at <= jumped_since;
    if (was_held && grant_rules::is_clock_jump(jump, m.ttl)) {
      r.what = reply::verdict::not_owner;
      r.why = errc::timed_out;
    }
    if (r.what == reply::verdict::done && r.epoch == c->recipe().epoch()) c->info_stored = true;
    c->on_reply(r, {}, now, context.events);
  }
  end(those);
}

void renewals::end(request& those) noexcept {
  pool_.give_back(those);
  node_.renewals_due().on_end();
}

}  // namespace holdfast::redis
