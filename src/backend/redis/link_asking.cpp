// A link's outgoing side: what goes now, and what has to wait.
#include <algorithm>

#include "backend/redis/claim.hpp"
#include "backend/redis/link.hpp"
#include "backend/redis/link_answers.hpp"
#include "base/mutant.hpp"

namespace holdfast::redis {

bool link::may_send(const claim& c, operation what) const noexcept {
  const grant_rules::readiness r{.commands = commands_.ready(),
                                 .messages = messages_.ready(),
                                 .floor = floor_.is_known(),
                                 .raising = raising_};
  return grant_rules::may_send(what, c.steps().how(), r);
}

void link::ask(claim& c, operation what, time_point now) {
  if (what == operation::gather) {
    // It may have been in this list before, and was withdrawn: each counts once.
    std::erase_if(parked_, [&](claim_table::place p) { return claims_.at(p) == &c; });
    c.parked = operation::none;
    park(c, what);
    if (may_send(c, what)) gather_if_whole(c.with(), now);
    return;
  }
  if (!may_send(c, what)) return park(c, what);
  c.parked = operation::none;  // what waited would come after what it was given up for
  send(c, what, by::hash, now);
}

void link::park(claim& c, operation what) {
  if (c.parked == operation::none) {
    parked_.push_back(c.place());
    c.hurried = false;
  }
  c.parked = what;
  const time_point now = env().now();
  wake_by(c.steps().last_try(settings_.rules));
  reach_.on_affected(now);
  watch_outage(now);
  if (c.steps().is_attempt()) hurry(now + settings_.retry_base);
  commands_.open(now);
  if (what == operation::join) messages_.open(now);
  const bool needs_floor = grant_rules::needs_floor(what, c.steps().how());
  const bool raises = needs_floor && commands_.ready() && !floor_.is_known();
  if (raises && raise_at_ == core::never) raise(now);
}

void link::send_parked(time_point now) {
  review_parked([&](claim& c) {
    ask(c, std::exchange(c.parked, operation::none), now);
    return false;
  });
}

// Those who are asked for together go when all of them have come.
void link::gather_if_whole(const core::lock_group& g, time_point now) {
  const auto is_one = [&](claim_table::place p) {
    const claim* const c = claims_.at(p);
    return c && c->parked == operation::gather && c->with() == g;
  };
  if (std::ranges::count_if(parked_, is_one) < g.members) return;
  gathered those{.members = {}, .sent = now};
  those.members.reserve(g.members);
  review_parked([&](claim& c) {
    if (c.parked != operation::gather || c.with() != g) return true;
    c.parked = operation::none;
    those.members.push_back(request_of(c, operation::gather, by::hash, now));
    return false;
  });
  gathered_.push_back(std::move(those));
}

asking link::about(claim& c, owner_text& room) const {
  room = c.text();
  asking a;
  a.lock = c.lock();
  a.owner = view(room);
  a.ttl = c.steps().ttl();
  a.window = window(a.ttl);
  a.arrival = c.steps().arrival();
  a.looks = c.steps().looks();
  a.how = c.steps().how();
  a.waits = !c.steps().one_attempt();
  a.permits = c.permits();
  a.of = c.of();
  return a;
}

// Collected until somebody writes: what goes out together costs the server far less.
void link::send(claim& c, operation what, by how, time_point now) {
  (what == operation::take     ? takes_
   : what == operation::let_go ? let_gos_
                               : others_)
      .push_back(request_of(c, what, how, now));
}

sent_request link::request_of(const claim& c, operation what, by how, time_point now) {
  sent_request r;
  r.whose = c.place();
  r.to = what;
  r.by_text = how == by::text;
  r.epoch = c.steps().epoch();
  r.ttl = c.steps().ttl();
  r.sent = now;
  return r;
}

void link::ask_release(claim& c, claim& next, time_point now) {
  send(c, operation::release, by::hash, now);
  sent_request& r = others_.back();
  r.has_next = true;
  r.next = next.place();
  r.next_epoch = next.steps().epoch();
  r.next_ttl = next.steps().ttl();
}

bool link::has_collected() const noexcept {
  return !takes_.empty() || !let_gos_.empty() || !others_.empty() || !gathered_.empty();
}

// What was not written before the connection went waits for the next one.
void link::park_collected() {
  std::vector<sent_request> unsent;
  for (auto* all : {&let_gos_, &takes_, &others_}) {
    unsent.insert(unsent.end(), all->begin(), all->end());
    all->clear();
  }
  for (const gathered& those : std::exchange(gathered_, {}))
    unsent.insert(unsent.end(), those.members.begin(), those.members.end());
  for (const sent_request& r : unsent) {
    claim* const c = claims_.at(r.whose);
    if (c && c->steps().epoch() == r.epoch) park(*c, r.to);
    claim* const next = r.has_next ? claims_.at(r.next) : nullptr;
    if (next && next->steps().epoch() == r.next_epoch) park(*next, operation::join);
  }
}

// In this order: what is freed may be taken in the same write, and what a claim says after its take
// follows that.
void link::encode() {
  if (!commands_.ready()) return;
  if (!let_gos_.empty()) encode_let_gos();
  if (!takes_.empty()) encode_takes();
  if (!gathered_.empty()) encode_gathered();
  for (const sent_request& r : others_) encode_other(r);
  others_.clear();
}

// Those whose claims are still about the same. Null when there are none.
template <class Each>
link::crowd* link::gather(std::vector<sent_request>& from, Each each) {
  if (idle_crowds_.empty()) idle_crowds_.push_back(std::make_unique<crowd>(*this));
  crowd& made = *idle_crowds_.back();
  for (const sent_request& r : from) {
    claim* const c = claims_.at(r.whose);
    if (!c || c->steps().epoch() != r.epoch) continue;
    c->spoken = true;
    made.members.push_back(r);
    each(*c);
  }
  from.clear();
  if (made.members.empty()) return nullptr;
  crowds_.push_back(std::move(idle_crowds_.back()));
  idle_crowds_.pop_back();
  return &made;
}

void link::expect_crowd(crowd& those, std::uint32_t replies, time_point sent) {
  sent_request r;
  r.special = &those;
  r.for_claims = true;
  r.replies = replies;
  r.sent = sent;
  commands_.expect(r, r.sent);
}

void link::encode_takes() {
  std::string& out = commands_.out();
  const std::size_t before = out.size();
  begin_takes(out);
  owner_text room;
  crowd* const those = gather(takes_, [&](claim& c) { append_take(out, about(c, room)); });
  if (!those) return out.resize(before);
  end_takes(out);
  expect_crowd(*those, static_cast<std::uint32_t>(2 + 2 * those->members.size()),
               those->members.front().sent);
}

void link::encode_let_gos() {
  owners_.clear();
  owners_.reserve(let_gos_.size());
  askings_.clear();
  crowd* const those = gather(let_gos_, [&](claim& c) {
    owners_.emplace_back();
    askings_.push_back(about(c, owners_.back()));
  });
  if (!those) return;
  append_let_go(commands_.out(), askings_);
  expect_crowd(*those, 1, those->members.front().sent);
}

// All or none: whoever is left of a set that somebody has left waits for it.
void link::encode_gathered() {
  for (gathered& asked : std::exchange(gathered_, {})) {
    std::vector<sent_request>& members = asked.members;
    const auto has_left = [&](const sent_request& r) {
      const claim* const c = claims_.at(r.whose);
      return !c || c->steps().epoch() != r.epoch;
    };
    const bool by_text = members.front().by_text;
    if (core::planted(core::mutant::silence_dated_back)) asked.sent = members.front().sent;
    if (std::ranges::any_of(members, has_left)) {
      for (const sent_request& r : members)
        if (!has_left(r)) park(*claims_.at(r.whose), operation::gather);
      continue;
    }
    owners_.clear();
    owners_.reserve(members.size());
    askings_.clear();
    crowd* const those = gather(members, [&](claim& c) {
      owners_.emplace_back();
      askings_.push_back(about(c, owners_.back()));
    });
    append_gather(commands_.out(), askings_, by_text ? by::text : by::hash);
    expect_crowd(*those, 1, asked.sent);
  }
}

void link::encode_other(const sent_request& asked) {
  claim* const c = claims_.at(asked.whose);
  if (!c || c->steps().epoch() != asked.epoch) return;
  c->spoken = true;
  owner_text room, next_room;
  asking a = about(*c, room);
  sent_request r = asked;
  claim* const next = r.has_next ? claims_.at(r.next) : nullptr;
  r.has_next = next && next->steps().epoch() == r.next_epoch;
  if (r.has_next) {
    next->spoken = true;
    next_room = next->text();
    a.next_owner = view(next_room);
    a.known = c->noted;
    a.next_window = window(r.next_ttl);
  }
  std::string about_it;
  if (r.to == operation::join && a.how != lock_mode::exclusive && !c->note().empty()) {
    about_it = about_holder(*c);
    a.about = about_it;
  }
  append_question(commands_.out(), r.to, a, r.by_text ? by::text : by::hash);
  commands_.expect(r, r.sent);
}

bool link::ask_special(answerer& who, std::string&& bytes, time_point now) {
  if (!commands_.ready()) {
    commands_.open(now);
    return false;
  }
  commands_.out() += bytes;
  sent_request r;
  r.special = &who;
  r.sent = now;
  commands_.expect(r, now);
  return true;
}

// Lifts the counter to the server's clock: without that no number proves anything.
void link::raise(time_point now) {
  if (raising_) return;
  std::string bytes;
  append_raise(bytes, floor_.last());
  raising_ = ask_special(*raise_answer_, std::move(bytes), now);
}

}  // namespace holdfast::redis
