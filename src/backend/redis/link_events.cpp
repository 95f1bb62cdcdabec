// A link's incoming side: replies to claims, messages, connections that come and go.
#include <algorithm>
#include <charconv>
#include <utility>

#include "backend/redis/claim.hpp"
#include "backend/redis/link.hpp"
#include "backend/redis/link_answers.hpp"
#include "base/mutant.hpp"

namespace holdfast::redis {

using core::event_queue;
using core::planted;
using verdict = reply::verdict;
using namespace std::chrono_literals;

void link::on_ready(transport&, lane what, time_point now, event_queue&) {
  if (what == lane::renewals) return;
  if (what == lane::commands) {
    floor_.forget();
    raising_ = false;
    raise_at_ = core::never;
    raises_ = 0;
    over_.open(lane::messages, now);  // a holder is to hear that others want its lock
    load_scripts(now);
    over_.check_eviction(now);
    orphans_.resend_all(now);
    raise(now);
    if (renewals_go_with_commands()) over_.tick_by(now);
  }
  send_parked(now);
}

void link::on_subscribed(time_point now, event_queue&) {
  claims_.for_each([&](claim& c) {
    event_queue nobody;  // a question is no news
    c.on([&](recipe& r) { return r.on_subscribed(now); }, now, nobody);
  });
}

void link::on_reply(batch<link>& r, const value& v, const reply_context& c) {
  r.to == operation::renew ? answer_renewals(r, v, c) : collected_.on_reply(r, v, c);
}

void link::on_not_executed(batch<link>& r, const reply_context& c) {
  r.to == operation::renew ? repeat_renewals(r) : collected_.on_not_executed(r, c);
}

void link::on_cut(batch<link>& r, const reply_context& c) {
  r.to == operation::renew ? end_renewals(r) : collected_.on_cut(r, c);
}

void link::answer(claims::claim_place whose, reply q, std::string_view error,
                  const reply_context& context) {
  claim* const c = claims_.at(whose);
  if (!c) return;
  const time_point now = context.now;
  q = grant_rules::believe(q, floor_, over_.clock(), now);
  if (q.what == verdict::not_now) put_off(explain_reply(error), now);
  if (q.what == verdict::granted || q.what == verdict::queued) over_.note_accepted(now);
  const bool is_error = q.what == verdict::failed || q.what == verdict::not_now;
  std::string text = is_error ? explain_reply(error) : std::string();
  if (q.what == verdict::bad_number)
    text =
        "the counter holdfast:n was lost, and the server's clock is behind what was granted before";
  c->on_reply(q, std::move(text), now, context.events);
}

// A release that the server cannot read yet would let a take that follows it find the lock busy.
void link::load_scripts(time_point now) {
  for (const script_name name : {script_name::let_go, script_name::pass, script_name::release,
                                 script_name::join, script_name::enter, script_name::part})
    over_.load_script(script_of(name).text, now);
}

namespace {

// Parts of a message: what|text|...|owner|lock; the lock may have any bytes.
struct message {
  std::string_view rest;
  std::string_view part() noexcept {
    const std::size_t end = std::min(rest.find('|'), rest.size());
    const std::string_view out = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    return out;
  }
  std::int64_t number() noexcept {
    const std::string_view digits = part();
    std::int64_t n = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), n);
    return n;
  }
};

}  // namespace

void link::on_message(std::string_view payload, time_point now, event_queue& events) {
  message m{payload};
  const std::string_view what = m.part();
  push p;
  if (what == "grant") {
    p.number = m.number();
    grant_rules::pushed_grant g{.number = p.number};
    g.at = server_time_of(m.number());
    g.window = span_of(m.number());
    p.others = m.number() != 0;
    p.until = grant_rules::deadline_of(g, floor_, over_.clock(), settings_.rules.clock_skew, now);
  } else if (what == "look") {
    p.what = push::kind::look;
    p.until = grant_rules::look_at(server_time_of(m.number()), over_.clock(), now);
  } else if (what == "wanted") {
    p.what = push::kind::wanted;
    m.part();
  } else {
    return;
  }
  const std::string_view owner = m.part();
  const auto id = claim_of(client_, owner);
  claim* const c = id ? claims_.find(*id) : nullptr;
  const bool has_claim = c && c->lock() == m.rest;
  switch (grant_rules::recipient_of(p.what, id.has_value(), has_claim)) {
    case grant_rules::recipient::claim:
      return c->on([&](recipe& r) { return r.on(p, now); }, now, events);
    case grant_rules::recipient::next_waiter: return decline(owner, m.rest, now);
    case grant_rules::recipient::nobody: return;
  }
}

// A lock that was handed to a claim that has gone: it goes on to the next at once.
void link::decline(std::string_view owner, std::string_view lock, time_point now) {
  std::string bytes;
  append_leave(bytes, lock, owner);
  ask_special(over_.nobody(), std::move(bytes), now);
}

void link::raise_answer::on_reply(const value& v, const reply_context& c) {
  home.raising_ = false;
  if (v.is(value::kind::error) || v.size() != 2) {
    const reply r = read_error(v, {});
    if (r.what != verdict::not_now)
      return home.fail_unproven({r.why, explain_reply(v.text())}, c.now, c.events);
    home.put_off(explain_reply(v.text()), c.now);
    return home.raise_later(c.now);
  }
  home.raises_ = 0;
  const std::int64_t floor = v[0].integer();
  home.over_.note_clock(c.sent, server_time_of(v[1].integer()), c.now);
  if (!grant_rules::is_floor_believed(floor, home.over_.clock())) {
    const std::string error = std::string(counter_ahead) + ' ' + std::string(counter_key);
    return home.fail_unproven({errc::refused, explain_reply(error)}, c.now, c.events);
  }
  home.floor_.raise(floor);
  home.send_parked(c.now);
}

}  // namespace holdfast::redis
