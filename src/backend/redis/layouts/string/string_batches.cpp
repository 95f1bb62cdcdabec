#include "backend/redis/layouts/string/string_batches.hpp"

#include <algorithm>

#include "backend/redis/layouts/string/string_layout.hpp"
#include "backend/redis/layouts/string/string_node.hpp"
#include "base/mutant.hpp"

namespace holdfast::redis {

batch_member string_batches::member_of(const claim& c, time_point now) noexcept {
  const queueing_recipe& r = c.recipe();
  return {.whose = c.place(), .epoch = r.epoch(), .ttl = r.ttl(), .sent = now};
}

claim* string_batches::current(const batch_member& m) const noexcept {
  claim* const c = node_.claims().at(m.whose);
  return c && c->recipe().epoch() == m.epoch ? c : nullptr;
}

void string_batches::add(claim& c, operation op, time_point now) {
  const bool is_one_of_many = op == operation::try_lock || op == operation::release_uncontended;
  std::vector<request*>& open = !is_one_of_many             ? others_
                                : op == operation::try_lock ? try_locks_
                                                            : releases_;
  if (is_one_of_many)
    for (request* r : open)
      if (r->slot == c.slot) return r->members.push_back(member_of(c, now));
  request& r = pool_.take(op, now);
  r.slot = c.slot;
  r.members.push_back(member_of(c, now));
  open.push_back(&r);
}

void string_batches::add_release(claim& c, claim& next, time_point now) {
  add(c, operation::release, now);
  others_.back()->members.push_back(member_of(next, now));
}

void string_batches::add_group(std::span<claim* const> all, time_point now) {
  request& r = pool_.take(operation::lock_all, now);
  for (const claim* c : all) r.members.push_back(member_of(*c, now));
  groups_.push_back(&r);
}

void string_batches::write(request_writer& to) {
  for (request* r : releases_) write_releases(to, *r);
  releases_.clear();
  for (request* r : try_locks_) write_try_locks(to, *r);
  try_locks_.clear();
  for (request* r : std::exchange(groups_, {})) write_group(to, *r);
  for (request* r : others_) write_one(to, *r);
  others_.clear();
}

void string_batches::defer_unsent() {
  std::vector<request*> unsent;
  for (std::vector<request*>* all : {&releases_, &try_locks_, &others_, &groups_}) {
    unsent.insert(unsent.end(), all->begin(), all->end());
    all->clear();
  }
  for (request* r : unsent) {
    operation op = r->to;
    for (const batch_member& m : r->members) {
      if (claim* const c = current(m))
        c->node == &node_ ? node_.defer(*c, op) : c->node->send(*c, op, node_.now());
      if (op == operation::release) op = operation::lock_or_queue;  // of the next claim
    }
    pool_.give_back(*r);
  }
}

void string_batches::write_try_locks(request_writer& to, request& r) {
  if (!collect_arguments(r)) return;
  append_try_locks(to.out(), arguments_);
  to.expect(r, static_cast<std::uint32_t>(2 + 2 * r.members.size()), r.members.front().sent);
}

// Of the members whose claims still want it, into `arguments_`, which has views into `owners_`.
// False when none is left.
bool string_batches::collect_arguments(request& r) {
  owners_.clear();
  owners_.reserve(r.members.size());
  arguments_.clear();
  std::erase_if(r.members, [this](const batch_member& m) {
    claim* const c = current(m);
    if (!c) return true;
    c->was_sent = true;
    owners_.emplace_back();
    arguments_.push_back(node_.arguments_of(*c, owners_.back()));
    return false;
  });
  if (r.members.empty()) pool_.give_back(r);
  return !r.members.empty();
}

void string_batches::write_releases(request_writer& to, request& r) {
  if (!collect_arguments(r)) return;
  append_release_uncontended(to, arguments_);
  to.expect(r, 1, r.members.front().sent);
}

// When a claim has left the group, the others wait until the group is complete again.
void string_batches::write_group(request_writer& to, request& r) {
  const auto has_left = [this](const batch_member& m) { return !current(m); };
  if (std::ranges::any_of(r.members, has_left)) {
    for (const batch_member& m : r.members)
      if (claim* const c = current(m)) c->node->wait_for_group(*c);
    return pool_.give_back(r);
  }
  collect_arguments(r);
  append_lock_all(to, arguments_);
  to.expect(r, 1, r.sent);
}

void string_batches::write_one(request_writer& to, request& r) {
  claim* const c = current(r.members.front());
  if (!c) return pool_.give_back(r);
  c->was_sent = true;
  owner_text buffer, next_room;
  lock_arguments a = node_.arguments_of(*c, buffer);
  if (r.members.size() > 1) {
    if (claim* const next = current(r.members[1])) {
      next->was_sent = true;
      next_room = node_.home().owner_of(*next);
      a.next_owner = view(next_room);
      a.info_may_be_stored = c->info_may_be_stored;
      a.next_window = node_.window(r.members[1].ttl);
    } else {
      r.members.pop_back();
    }
  }
  std::string info;
  if (r.to == operation::lock_or_queue && a.mode != lock_mode::exclusive && !c->note().empty()) {
    info = node_.home().holder_info(*c);
    a.info = info;
  }
  append_request(to, r.to, a);
  to.expect(r, 1, r.sent);
}

reply string_batches::reply_to(operation op, const batch_member& m) const noexcept {
  return {.to = op,
          .final = node_.over().no_older_connection_runs(),
          .epoch = m.epoch,
          .ttl = m.ttl,
          .sent = m.sent};
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
  pool_.give_back(r);
}

// The server has lost its scripts, or is another one: what is still wanted is sent again. A release
// that was to enqueue the next claim goes alone, and that claim sends its own request.
void string_batches::on_script_missing(request& r, const reply_context& c) {
  if (r.to == operation::lock_all) {
    if (!base::planted(base::mutant::silence_dated_back)) r.sent = c.now;
    return groups_.push_back(&r);
  }
  claim* const next =
      r.to == operation::release && r.members.size() > 1 ? current(r.members[1]) : nullptr;
  if (r.to == operation::release) r.members.resize(1);
  for (const batch_member& m : r.members)
    if (claim* const requester = current(m)) add(*requester, r.to, c.now);
  if (next) next->node->send(*next, operation::lock_or_queue, c.now);
  pool_.give_back(r);
}

bool string_batches::keys_move() const noexcept { return node_.home().keys_move(); }

void string_batches::on_redirected(request& r, const redirection& to, const reply_context& c) {
  operation op = r.to;
  for (const batch_member& m : r.members) {
    if (const claim* const requester = current(m)) node_.send_again(*requester, op, to, c.now);
    if (op == operation::release) op = operation::lock_or_queue;  // of the next claim
  }
  pool_.give_back(r);
}

void string_batches::on_cut(request& r, const reply_context& c) {
  for (const batch_member& m : r.members) {
    claim* const requester = node_.claims().at(m.whose);
    if (requester)
      requester->on([&](queueing_recipe& of) { return of.on_cut(m.epoch); }, c.now, c.events);
  }
  pool_.give_back(r);
}

void string_batches::answer_try_locks(request& r, const value& v, const reply_context& c) {
  const std::string_view error = c.aborted.empty() ? v.text() : c.aborted;
  const bool is_whole = v.size() == 2 * r.members.size();
  value set = v[0];
  for (const batch_member& m : r.members) {
    const reply q = reply_to(r.to, m);
    if (!is_whole) {
      node_.answer(m.whose, read_error(error, q), error, c);
      continue;
    }
    const value number = set.next();
    const std::string_view why = set.is(value::kind::error) ? set.text() : number.text();
    node_.answer(m.whose, read_try_lock(set, number, q), why, c);
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
      node_.answer(m.whose, read_error(v.text(), q), v.text(), c);
      continue;
    }
    node_.answer(m.whose, read_release_uncontended(part, q), part.text(), c);
    if (!is_for_all) part = part.next();
  }
}

void string_batches::answer_group(request& r, const value& v, const reply_context& c) {
  const std::size_t n = r.members.size();
  for (std::size_t i = 0; i < n; ++i) {
    const reply q = read_lock_all(v, i, n, reply_to(r.to, r.members[i]));
    node_.answer(r.members[i].whose, q, v.is(value::kind::array) ? v[i].text() : v.text(), c);
  }
}

void string_batches::answer_one(request& r, const value& v, const reply_context& c) {
  const batch_member& m = r.members.front();
  const reply q = reply_to(r.to, m);
  if (r.to == operation::peek_kind)
    return node_.answer(m.whose, read_kind(v, q), text_of_kind(v), c);
  if (r.to == operation::check_waiters)
    return node_.answer(m.whose, read_waiters(v, q), v.text(), c);
  const answer a = r.to == operation::lock_or_queue ? read_lock_or_queue(v, q)
                   : r.to == operation::resolve     ? read_resolve(v, q)
                                                    : read_released(v, q);
  node_.over().clock().note(m.sent, a.at, c.received);
  node_.answer(m.whose, a.to_claim, v.text(), c);
}

void string_batches::answer_next(const batch_member& m, const value& v, const reply_context& c) {
  const answer a = read_successor(v, reply_to(operation::lock_or_queue, m));
  node_.over().clock().note(m.sent, a.at, c.received);
  node_.answer(m.whose, a.to_claim, v.text(), c);
}

}  // namespace holdfast::redis
