// Reads the replies to the batches of layout `string`.
#include "backend/redis/layouts/string/string_batches.hpp"
#include "backend/redis/layouts/string/string_claim.hpp"
#include "backend/redis/layouts/string/string_layout.hpp"
#include "base/mutant.hpp"

namespace holdfast::redis {

using verdict = reply::verdict;

reply string_batches::reply_to(operation what, const batch_member& m) const noexcept {
  reply q;
  q.to = what;
  q.epoch = m.epoch;
  q.ttl = m.ttl;
  q.sent = m.sent;
  q.final = home_.no_older_connection_runs();
  return q;
}

void string_batches::on_reply(request& r, const value& v, const reply_context& c) {
  switch (r.to) {
    case operation::try_lock: answer_try_locks(r, v, c); break;
    case operation::release_uncontended: answer_releases(r, v, c); break;
    case operation::lock_all: answer_group(r, v, c); break;
    default:
      answer_one(r, v, c);
      if (r.members.size() > 1) answer_next(r.members[1], v, c);
  }
  home_.batches().give_back(r);
}

// The server has lost its scripts, or is another one: what is still wanted is sent again. A release
// that was to enqueue the next claim goes alone, and that claim sends its own request.
void string_batches::on_not_executed(request& r, const reply_context& c) {
  if (r.to == operation::lock_all) {
    if (!core::planted(core::mutant::silence_dated_back)) r.sent = c.now;
    return groups_.push_back(&r);
  }
  claim* const next =
      r.to == operation::release && r.members.size() > 1 ? current(r.members[1]) : nullptr;
  if (r.to == operation::release) r.members.resize(1);
  for (const batch_member& m : r.members)
    if (claim* const who = current(m)) add(*who, r.to, c.now);
  if (next) home_.send(*next, operation::lock_or_queue, c.now);
  home_.batches().give_back(r);
}

void string_batches::on_cut(request& r, const reply_context& c) {
  for (const batch_member& m : r.members) {
    claim* const who = home_.claims().at(m.whose);
    if (who) who->on([&](queueing_recipe& of) { return of.on_cut(m.epoch); }, c.now, c.events);
  }
  home_.batches().give_back(r);
}

void string_batches::answer_try_locks(request& r, const value& v, const reply_context& c) {
  const std::string_view error = c.aborted.empty() ? v.text() : c.aborted;
  const bool is_whole = v.size() == 2 * r.members.size();
  value set = v[0];
  for (const batch_member& m : r.members) {
    const reply q = reply_to(r.to, m);
    if (!is_whole) {
      home_.answer(m.whose, read_error_text(error, q), error, c);
      continue;
    }
    const value number = set.next();
    const std::string_view why = set.is(value::kind::error) ? set.text() : number.text();
    home_.answer(m.whose, read_try_lock(set, number, q), why, c);
    set = number.next();
  }
}

// One answer for all, or one for each.
void string_batches::answer_releases(request& r, const value& v, const reply_context& c) {
  const bool is_for_all = v.is(value::kind::integer);
  const bool is_whole = is_for_all || v.size() == r.members.size();
  value part = is_for_all ? v : v[0];
  for (const batch_member& m : r.members) {
    const reply q = reply_to(r.to, m);
    if (!is_whole) {
      home_.answer(m.whose, read_error_text(v.text(), q), v.text(), c);
      continue;
    }
    home_.answer(m.whose, read_release_uncontended(part, q), part.text(), c);
    if (!is_for_all) part = part.next();
  }
}

void string_batches::answer_group(request& r, const value& v, const reply_context& c) {
  const std::size_t n = r.members.size();
  for (std::size_t i = 0; i < n; ++i) {
    const reply q = read_lock_all(v, i, n, reply_to(r.to, r.members[i]));
    home_.answer(r.members[i].whose, q, v.is(value::kind::array) ? v[i].text() : v.text(), c);
  }
}

void string_batches::answer_one(request& r, const value& v, const reply_context& c) {
  const batch_member& m = r.members.front();
  const reply q = reply_to(r.to, m);
  if (r.to == operation::peek_kind)
    return home_.answer(m.whose, read_kind(v, q), text_of_kind(v), c);
  if (r.to == operation::check_waiters) return home_.answer(m.whose, read_line(v, q), v.text(), c);
  const answer a = r.to == operation::lock_or_queue ? read_lock_or_queue(v, q)
                   : r.to == operation::resolve     ? read_resolve(v, q)
                                                    : read_released(v, q);
  home_.over().note_clock(m.sent, a.at, c.now);
  home_.answer(m.whose, a.to_claim, v.text(), c);
}

void string_batches::answer_next(const batch_member& m, const value& v, const reply_context& c) {
  const answer a = read_successor(v, reply_to(operation::lock_or_queue, m));
  home_.over().note_clock(m.sent, a.at, c.now);
  home_.answer(m.whose, a.to_claim, v.text(), c);
}

}  // namespace holdfast::redis
