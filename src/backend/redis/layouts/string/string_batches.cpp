#include "backend/redis/layouts/string/string_batches.hpp"

#include <algorithm>

#include "backend/redis/layouts/string/string_claim.hpp"
#include "backend/redis/layouts/string/string_layout.hpp"

namespace holdfast::redis {

batch_member string_batches::member_of(const claim& c, time_point now) noexcept {
  batch_member m;
  m.whose = c.place();
  m.epoch = c.recipe().epoch();
  m.ttl = c.recipe().ttl();
  m.sent = now;
  return m;
}

claim* string_batches::current(const batch_member& m) const noexcept {
  claim* const c = home_.claims().at(m.whose);
  return c && c->recipe().epoch() == m.epoch ? c : nullptr;
}

void string_batches::add(claim& c, operation what, time_point now) {
  const bool is_one_of_many = what == operation::try_lock || what == operation::release_uncontended;
  request*& open = what == operation::try_lock ? try_locks_ : releases_;
  if (is_one_of_many && open) return open->members.push_back(member_of(c, now));
  request& r = home_.batches().take(what, now);
  r.members.push_back(member_of(c, now));
  if (is_one_of_many) {
    open = &r;
  } else {
    others_.push_back(&r);
  }
}

void string_batches::add_release(claim& c, claim& next, time_point now) {
  add(c, operation::release, now);
  others_.back()->members.push_back(member_of(next, now));
}

void string_batches::add_group(std::span<claim* const> all, time_point now) {
  request& r = home_.batches().take(operation::lock_all, now);
  for (const claim* c : all) r.members.push_back(member_of(*c, now));
  groups_.push_back(&r);
}

void string_batches::write(request_writer& to) {
  if (releases_) write_releases(to, *std::exchange(releases_, nullptr));
  if (try_locks_) write_try_locks(to, *std::exchange(try_locks_, nullptr));
  for (request* r : std::exchange(groups_, {})) write_group(to, *r);
  for (request* r : others_) write_one(to, *r);
  others_.clear();
}

void string_batches::defer_unsent() {
  std::vector<request*> unsent;
  for (request* r : {std::exchange(releases_, nullptr), std::exchange(try_locks_, nullptr)})
    if (r) unsent.push_back(r);
  for (std::vector<request*>* all : {&others_, &groups_}) {
    unsent.insert(unsent.end(), all->begin(), all->end());
    all->clear();
  }
  for (request* r : unsent) {
    operation what = r->to;
    for (const batch_member& m : r->members) {
      if (claim* const c = current(m)) home_.defer(*c, what);
      if (what == operation::release) what = operation::lock_or_queue;  // of the next claim
    }
    home_.batches().give_back(*r);
  }
}

// False when nobody is left.
template <class Each>
bool string_batches::keep_current(request& r, Each each) {
  std::erase_if(r.members, [&](const batch_member& m) {
    claim* const c = current(m);
    if (!c) return true;
    c->was_sent = true;
    each(*c);
    return false;
  });
  if (!r.members.empty()) return true;
  home_.batches().give_back(r);
  return false;
}

void string_batches::write_try_locks(request_writer& to, request& r) {
  std::string& out = to.out();
  const std::size_t before = out.size();
  begin_try_locks(out);
  owner_text room;
  if (!keep_current(r, [&](claim& c) { append_try_lock(out, home_.arguments_of(c, room)); }))
    return out.resize(before);
  end_try_locks(out);
  to.expect(r, static_cast<std::uint32_t>(2 + 2 * r.members.size()), r.members.front().sent);
}

// Into `arguments_`, which has views into `owners_`. False when nobody is left.
bool string_batches::collect_arguments(request& r) {
  owners_.clear();
  owners_.reserve(r.members.size());
  arguments_.clear();
  return keep_current(r, [this](claim& c) {
    owners_.emplace_back();
    arguments_.push_back(home_.arguments_of(c, owners_.back()));
  });
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
      if (claim* const c = current(m)) home_.wait_for_group(*c);
    return home_.batches().give_back(r);
  }
  collect_arguments(r);
  append_lock_all(to, arguments_);
  to.expect(r, 1, r.sent);
}

void string_batches::write_one(request_writer& to, request& r) {
  claim* const c = current(r.members.front());
  if (!c) return home_.batches().give_back(r);
  c->was_sent = true;
  owner_text room, next_room;
  lock_arguments a = home_.arguments_of(*c, room);
  if (r.members.size() > 1) {
    if (claim* const next = current(r.members[1])) {
      next->was_sent = true;
      next_room = home_.owner_of(*next);
      a.next_owner = view(next_room);
      a.info_may_be_stored = c->info_may_be_stored;
      a.next_window = home_.window(r.members[1].ttl);
    } else {
      r.members.pop_back();
    }
  }
  std::string info;
  if (r.to == operation::lock_or_queue && a.mode != lock_mode::exclusive && !c->note().empty()) {
    info = home_.holder_info(*c);
    a.info = info;
  }
  append_request(to, r.to, a);
  to.expect(r, 1, r.sent);
}

}  // namespace holdfast::redis
