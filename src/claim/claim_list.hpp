// The claims of one layout: their places and owner ids (claim_table.hpp), when they wake up, and
// how long they wait through an outage.
#pragma once
#include <algorithm>
#include <functional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/environment.hpp"
#include "base/mutant.hpp"
#include "base/timer_heap.hpp"
#include "claim/claim_table.hpp"
#include "claim/recipe.hpp"

namespace holdfast::claims {

class listed_claim : public base::heap_timer {  // the base of what a layout keeps of each claim
 public:
  claim_handle place() const noexcept { return place_; }

 protected:
  listed_claim() = default;
  ~listed_claim() = default;

 private:
  template <class, class>
  friend class claim_list;
  claim_handle place_;
};

// Claims by the group that each names with group(): one event of the store concerns all of a group.
template <class Claim, class Group>
class claim_groups {
 public:
  void add(Claim& c) { all_.insert(&c); }
  void remove(Claim& c) noexcept {
    const auto [first, last] = all_.equal_range(c.group());
    all_.erase(std::find(first, last, &c));
  }
  template <class Each>
  void for_each_in(Group group, Each each) const {
    const auto [first, last] = all_.equal_range(group);
    const std::vector<Claim*> members(first, last);  // an event may end the wait of one
    for (Claim* c : members) each(*c);
  }

 private:
  struct by_group {
    using is_transparent = void;
    static Group of(const Claim* c) noexcept { return c->group(); }
    static Group of(Group g) noexcept { return g; }
    template <class Key>
    std::size_t operator()(const Key& k) const noexcept {
      return std::hash<Group>{}(of(k));
    }
    template <class Left, class Right>
    bool operator()(const Left& l, const Right& r) const noexcept {
      return of(l) == of(r);
    }
  };
  std::unordered_multiset<Claim*, by_group, by_group> all_;
};
template <class Claim>
class claim_groups<Claim, void> {
 public:
  void add(Claim&) noexcept {}
  void remove(Claim&) noexcept {}
};

// Claim: a store_claim whose record is a listed_claim. Group: what group() of the record returns;
// void: it has none. All with the store's mutex held.
template <class Claim, class Group = void>
class claim_list : public claim_table<Claim> {
 public:
  explicit claim_list(const timing& t) noexcept : rules_(t) {}  // it outlives this

  void add(Claim& c) {
    c.place_ = claim_table<Claim>::add(c);
    groups_.add(c);
  }
  void remove(Claim& c) noexcept {
    sleepers_.set(c, base::never);
    groups_.remove(c);
    claim_table<Claim>::remove(c.place());
  }
  template <class Key, class Each>
  void for_each_in(const Key& group, Each each) const {
    groups_.for_each_in(group, each);
  }

  bool is_dispatching() const {
    bool out = false;
    this->for_each([&](const Claim& c) { out = out || c.is_dispatching(); });
    return out;
  }
  // Each of them, where it waits for an answer, ends at once.
  template <class Which>
  void give_up(Which which, errc code, const std::string& why, time_point now,
               event_queue& events) {
    this->for_each([&](Claim& c) {
      if (which(std::as_const(c))) c.give_up(code, why, now, events);
    });
  }
  void give_up_all(errc code, const std::string& why, time_point now, event_queue& events) {
    give_up([](const Claim&) { return true; }, code, why, now, events);
  }

  void wake_at(Claim& c, time_point t) { sleepers_.set(c, t); }  // never: not at all
  // Wakes the claims that are due, and returns the time of the next one.
  time_point wake_due(time_point now, event_queue& events) {
    while (base::heap_timer* const due = sleepers_.take_due(now))
      static_cast<Claim*>(due)->on_wake(now, events);
    return sleepers_.next();
  }

  // There is an outage-timeout.
  bool bounds_waits() const noexcept { return rules_.outage_timeout != duration::max(); }
  // When end_waits() is first due for a wait or an outage that begins now.
  time_point first_end_of_wait(time_point now) const noexcept {
    return bounds_waits() ? base::saturating_add(now, rules_.outage_timeout - lead()) : base::never;
  }
  struct waits {
    time_point due = base::never;  // end_waits() again
    bool retry_now = false;        // a wait ends soon: the server is tried once more before
  };
  // Ends the waiters that have waited through the outage for the outage-timeout. A wait may begin
  // later than the outage did.
  template <class Text>
  waits end_waits(time_point out_since, Text why, time_point now, event_queue& events) {
    const auto all = [](const Claim&) { return true; };
    return end_waits(all, out_since, hurried_at_, why, now, events);
  }
  // The same for those of one server of several, which has a `hurried_at` of its own.
  template <class Which, class Text>
  waits end_waits(Which which, time_point out_since, time_point& hurried_at, Text why,
                  time_point now, event_queue& events) const {
    waits out;
    if (!bounds_waits() || out_since == base::never) return out;
    this->for_each([&](Claim& c) {
      if (!c.recipe().is_waiter() || !which(std::as_const(c))) return;
      const time_point end = end_of_wait(c.recipe().waits_since(), out_since);
      if (end <= now) return c.give_up(errc::unavailable, why(), now, events);
      const time_point last_try = end - lead();
      out.retry_now = out.retry_now || (last_try <= now && hurried_at < last_try);
      out.due = std::min(out.due, last_try > now ? last_try : end);
    });
    if (out.retry_now) hurried_at = now;
    out.retry_now = out.retry_now && !base::planted(base::mutant::last_attempt_omitted);
    return out;
  }

 private:
  duration lead() const noexcept { return std::min(rules_.outage_timeout, rules_.op_timeout) / 8; }
  time_point end_of_wait(time_point since, time_point out_since) const noexcept {
    using base::mutant;
    const bool is_later = since > out_since && !base::planted(mutant::late_waiter_given_up);
    const bool counts = is_later || base::planted(mutant::outage_dated_back);
    return base::saturating_add(counts ? since : out_since, rules_.outage_timeout);
  }

  const timing& rules_;
  [[no_unique_address]] claim_groups<Claim, Group> groups_;
  base::timer_heap sleepers_;
  time_point hurried_at_{};
};

}  // namespace holdfast::claims
