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

namespace {

reply again(reply r) noexcept {
  r.what = verdict::again;
  return r;
}

}  // namespace

void link::on_ready(line& x, time_point now, event_queue&) {
  reach_.on_ready(x.what(), now);
  for (line* other : {&commands_, &messages_, &renewals_}) other->hurry(now);  // it is there again
  if (&x == &commands_) {
    floor_.forget();
    raising_ = false;
    raise_at_ = core::never;
    raises_ = 0;
    messages_.open(now);  // who holds a lock is to hear that others want it
    teach(now);
    ask_for_eviction(now);
    ledger_.resend(now);
    raise(now);
  }
  if (&x == &messages_) {
    claims_.for_each([&](claim& c) {
      event_queue nobody;  // a question is no news
      c.hear_subscribed(now, nobody);
    });
  }
  if (&x == &renewals_) return group_.request_renewal_flush();
  send_parked(now);
  request_flush(true);
}

void link::on_cut(line&, const sent_request& r, time_point now, event_queue& events) {
  if (r.special) return r.special->cut(now, events);
  if (claim* const c = claims_.at(r.whose)) c->hear_cut(r.epoch, now, events);
  if (!r.has_next) return;
  if (claim* const c = claims_.at(r.next)) c->hear_cut(r.next_epoch, now, events);
}

// What it says of the data counts before anything that was granted with it.
void link::on_reply(line& x, const sent_request& r, const value& v, time_point now,
                    event_queue& events) {
  const bool is_missed = planted(core::mutant::doubt_in_transaction_missed);
  if (puts_data_in_doubt(v) || (!is_missed && puts_data_in_doubt(x.aborted()))) floor_.forget();
  if (r.special) return r.special->answered(v, now, r.sent, events);
  if (v.is_error("NOSCRIPT")) return ask_by_text(r, now);
  answer_claim(r, v, now, events);
  if (r.has_next) answer_next(r, v, now, events);
}

// It was not done: the server has lost its scripts, or is another one.
void link::ask_by_text(const sent_request& r, time_point now) {
  claim* const c = claims_.at(r.whose);
  if (c && c->steps().epoch() == r.epoch) send(*c, r.to, by::text, now);
  claim* const next = r.has_next ? claims_.at(r.next) : nullptr;
  if (next && next->steps().epoch() == r.next_epoch) ask(*next, operation::join, now);
}

reply link::reply_to(const sent_request& r) const noexcept {
  reply q;
  q.to = r.to;
  q.epoch = r.epoch;
  q.ttl = r.ttl;
  q.sent = r.sent;
  q.final = commands_.is_sole();
  return q;
}

void link::answer_claim(const sent_request& r, const value& v, time_point now,
                        event_queue& events) {
  const reply q = reply_to(r);
  if (r.to == operation::glance)
    return answer(r, read_glance(v, q), text_of_glance(v), now, events);
  if (r.to == operation::peek_line) return answer(r, read_line(v, q), v.text(), now, events);
  const redis::answer a = r.to == operation::join      ? read_join(v, q)
                          : r.to == operation::resolve ? read_resolve(v, q)
                                                       : read_released(v, q);
  clock_.note(r.sent, a.at, now);
  answer(r, a.to_claim, v.text(), now, events);
}

void link::answer(const sent_request& r, reply q, std::string_view error, time_point now,
                  event_queue& events) {
  claim* const c = claims_.at(r.whose);
  if (!c) return;
  q = grant_rules::believe(q, floor_, clock_, now);
  if (q.what == verdict::not_now) put_off(explain(error), now);
  if (q.what == verdict::granted || q.what == verdict::queued) reach_.on_accepted(now);
  std::string text = is_error_of(q) ? explain(error) : std::string();
  if (q.what == verdict::bad_number)
    text =
        "the counter holdfast:n was lost, and the server's clock is behind what was granted before";
  c->hear(q, std::move(text), 0, now, events);
}

void link::crowd::answered(const value& v, time_point now, time_point, event_queue& events) {
  if (members.front().to == operation::gather) return answered_gather(v, now, events);
  const bool takes = members.front().to == operation::take;
  const std::string_view error =
      takes && !home.commands_.aborted().empty() ? home.commands_.aborted() : v.text();
  const bool for_all = !takes && v.is(value::kind::integer);
  const bool whole = for_all || v.size() == members.size() * (takes ? 2 : 1);
  if (v.is_error("NOSCRIPT")) home.teach(now);
  value part = for_all ? v : v[0];
  for (const sent_request& r : members) {
    const reply q = home.reply_to(r);
    if (v.is_error("NOSCRIPT")) {
      home.answer(r, again(q), {}, now, events);
    } else if (!whole) {
      home.answer(r, read_error_text(error, q), error, now, events);
    } else if (takes) {
      const value number = part.next();
      const std::string_view why = part.is(value::kind::error) ? part.text() : number.text();
      home.answer(r, read_take(part, number, q), why, now, events);
      part = number.next();
    } else {
      home.answer(r, read_let_go(part, q), part.text(), now, events);
      if (!for_all) part = part.next();
    }
  }
  end();
}

// Asked again by its text when the server has lost its scripts.
void link::crowd::answered_gather(const value& v, time_point now, event_queue& events) {
  if (v.is_error("NOSCRIPT")) {
    for (sent_request& r : members) r.by_text = true;
    home.gathered_.push_back({std::move(members), now});
    return end();
  }
  for (std::size_t i = 0; i < members.size(); ++i) {
    const reply r = read_gathered(v, i, members.size(), home.reply_to(members[i]));
    home.answer(members[i], r, v.is(value::kind::array) ? v[i].text() : v.text(), now, events);
  }
  end();
}

void link::crowd::cut(time_point now, event_queue& events) {
  for (const sent_request& r : members)
    if (claim* const c = home.claims_.at(r.whose)) c->hear_cut(r.epoch, now, events);
  end();
}

// A release that the server cannot read yet would let a take that follows it find the lock busy.
void link::teach(time_point now) {
  for (const script_name name : {script_name::let_go, script_name::pass, script_name::release,
                                 script_name::join, script_name::enter, script_name::part}) {
    std::string bytes;
    command(bytes, 3) << "SCRIPT"
                      << "LOAD" << script_of(name).text;
    ask_special(*probe_answer_, std::move(bytes), now);
  }
}

// Before the counter is lifted, which open() waits for: a warning is in the log by then.
void link::ask_for_eviction(time_point now) {
  std::string bytes;
  command(bytes, 2) << "INFO"
                    << "memory";
  ask_special(*memory_answer_, std::move(bytes), now);
}

void link::memory_answer::answered(const value& v, time_point, time_point, event_queue&) {
  if (v.is(value::kind::text)) home.reach_.on_memory_info(v.text());
}

// It is used again: nothing is allocated for the next.
void link::crowd::end() noexcept {
  members.clear();
  home.idle_crowds_.push_back(taken_from(home.crowds_, this));
}

void link::answer_next(const sent_request& r, const value& v, time_point now, event_queue& events) {
  sent_request its = r;
  its.whose = r.next;
  its.to = operation::join;
  its.epoch = r.next_epoch;
  its.ttl = r.next_ttl;
  const redis::answer a = read_next(v, reply_to(its));
  clock_.note(r.sent, a.at, now);
  answer(its, a.to_claim, v.text(), now, events);
}

bool link::is_error_of(const reply& r) noexcept {
  return r.what == verdict::failed || r.what == verdict::not_now;
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

void link::on_message(line&, const value& v, time_point now, event_queue& events) {
  message m{v[2].text()};
  const std::string_view what = m.part();
  push p;
  if (what == "grant") {
    p.number = m.number();
    grant_rules::pushed_grant g{.number = p.number};
    g.at = server_time_of(m.number());
    g.window = span_of(m.number());
    p.others = m.number() != 0;
    p.until = grant_rules::deadline_of(g, floor_, clock_, settings_.rules.clock_skew, now);
  } else if (what == "look") {
    p.what = push::kind::look;
    p.until = grant_rules::look_at(server_time_of(m.number()), clock_, now);
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
    case grant_rules::recipient::claim: return c->hear(p, now, events);
    case grant_rules::recipient::next_waiter: return decline(owner, m.rest, now);
    case grant_rules::recipient::nobody: return;
  }
}

// A lock that was handed to a claim that has gone: it goes on to the next at once.
void link::decline(std::string_view owner, std::string_view lock, time_point now) {
  std::string bytes;
  append_leave(bytes, lock, owner);
  ask_special(*time_answer_, std::move(bytes), now);
}

void link::raise_answer::answered(const value& v, time_point now, time_point sent,
                                  event_queue& events) {
  home.raising_ = false;
  if (v.is(value::kind::error) || v.size() != 2) {
    const reply r = read_error(v, {});
    if (r.what != verdict::not_now)
      return home.fail_unproven({r.why, explain(v.text())}, now, events);
    home.put_off(explain(v.text()), now);
    return home.raise_later(now);
  }
  home.raises_ = 0;
  const std::int64_t floor = v[0].integer();
  home.clock_.note(sent, server_time_of(v[1].integer()), now);
  if (!grant_rules::is_floor_believed(floor, home.clock_))
    return home.fail_unproven({errc::refused, explain("AHEAD " + std::string(counter_key))}, now,
                              events);
  home.floor_.raise(floor);
  home.send_parked(now);
}

void link::raise_answer::cut(time_point, event_queue&) { home.raising_ = false; }

void link::time_answer::answered(const value& v, time_point now, time_point sent, event_queue&) {
  home.sampling_ = false;
  home.clock_.note(sent, read_time(v), now);
}

}  // namespace holdfast::redis
