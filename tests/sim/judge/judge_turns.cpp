// The judge's view of the users that hold a lock, by the turns they were given.
#include <algorithm>

#include "tests/sim/judge/judge.hpp"
#include "tests/sim/machine/machine.hpp"
#include "tests/sim/machine/world.hpp"

namespace holdfast::sim {

void judge::begins(const stay& s) {
  for (const stay& other : stays_)
    if (other.lock == s.lock && other.where == s.where &&
        (other.how == lock_mode::exclusive || s.how == lock_mode::exclusive))
      world_.complain("turns: a turn began while an earlier one in the process was not left");
  stays_.push_back(s);
  lock_state& l = locks_[static_cast<std::size_t>(s.lock)];
  const auto found = l.ever.find(s.claim);
  // A reader may follow a writer of its process under the same grant.
  if (s.how == lock_mode::exclusive || found == l.ever.end()) return judge_token(l, stays_.back());
  // Past the end of its lease a late question may have brought it into another group.
  const membership& m = found->second;
  if (s.how == lock_mode::shared && s.turn->token / 1024 != m.number &&
      world_.time.now() >= m.judged_from) {
    world_.complain("group: a reader was given " + std::to_string(s.turn->token / 1024) +
                    ", its group has " + std::to_string(m.number));
  }
}

bool judge::fits(const lock_state& l, const ownership& mine, std::int64_t number) noexcept {
  return std::all_of(l.owners.begin(), l.owners.end(), [&](const ownership& o) {
    const bool counts = &o >= l.owners.data() + l.counted_anew;
    if (&o == &mine || o.number == 0 || !counts) return true;
    return &o < &mine ? o.number < number : o.number > number;
  });
}

void judge::find_place(const lock_state& l, stay& s) {
  const auto mine = std::find_if(l.owners.rbegin(), l.owners.rend(),
                                 [&](const ownership& o) { return o.claim == s.claim; });
  if (mine == l.owners.rend())
    return world_.complain("one: " + s.claim + " was granted " + l.key + ", and never had it");
  s.place = static_cast<std::size_t>(&*mine - l.owners.data());
}

// A grant may arrive when its ownership has passed already.
void judge::judge_token(lock_state& l, stay& s) {
  if (!can_.tokens) return find_place(l, s);
  const std::int64_t number = s.turn->token / 1024;
  for (auto o = l.owners.rbegin(); o != l.owners.rend(); ++o) {
    if (o->claim != s.claim) continue;
    s.place = static_cast<std::size_t>(&*o - l.owners.data());
    if (s.place < l.counted_anew) return;
    if (o->number == number) {
      const bool is_next =
          s.how == lock_mode::shared ? s.turn->token >= o->token : s.turn->token > o->token;
      if (!is_next) world_.complain("tokens: a turn's is not above the one before it");
      o->token = s.turn->token;
      return;
    }
    if (o->number != 0 || !fits(l, *o, number)) continue;
    o->number = number;
    o->token = s.turn->token;
    return;
  }
  world_.complain("tokens: " + s.claim + " was given " + std::to_string(number) +
                  ", which is not in the order in which it and others had the lock");
}

std::optional<stay> judge::withhold(const detail::turn* t) {
  const auto found =
      std::find_if(stays_.begin(), stays_.end(), [&](const stay& s) { return s.turn == t; });
  if (found == stays_.end()) return std::nullopt;
  const stay out = *found;
  stays_.erase(found);
  return out;
}

void judge::goes_on(const stay& s) { stays_.push_back(s); }

void judge::ends(const detail::turn* t) {
  std::erase_if(stays_, [&](const stay& s) { return s.turn == t; });
}

bool judge::is_kept_by_a_loser(int lock, const machine& where) const {
  return std::any_of(stays_.begin(), stays_.end(), [&](const stay& s) {
    return s.lock == lock && s.where == &where && s.how != lock_mode::permit && !s.turn->held();
  });
}

// A user that believes it holds the lock has it, and no loss was reported to one that has it.
void judge::judge_belief(const lock_state& l, const stay& s, bool has_it, bool judges_losses) {
  const auto client = [&] { return "client " + std::to_string(s.where->number()); };
  if (judges_losses && detail::turn::is_loss(s.turn->now) && has_it &&
      s.where->now() < s.turn->deadline.load())
    return world_.complain("lost: " + client() + " got the loss reported of " + l.key +
                           ", and has it");
  if (s.turn->held() && !has_it)
    world_.complain("one: " + client() + " believes that it holds " + l.key + " as " + s.claim +
                    "; at the server it is \"" + std::string(now_owner(l)) + '"');
}

// What a user believes until then may be of before something unsafe.
moment judge::judged_from(const lock_state& l, const stay& s) const {
  if (s.how != lock_mode::exclusive)
    if (const auto member = l.ever.find(s.claim); member != l.ever.end())
      return member->second.judged_from;
  return l.owners.empty() ? moment::max() : l.owners[s.place].judged_from;
}

void judge::judge_holders(int lock) {
  const lock_state& l = locks_[static_cast<std::size_t>(lock)];
  const bool is_mutex = world_.schedule.locks_are == kind::mutex;
  // An old queue that came back may hand it to a claim whose loss was rightly reported.
  const bool judges_losses = !clock_leaps_ && !world_.schedule.has(trouble::other_bounds) &&
                             (is_mutex || !world_.schedule.has(trouble::restart_saved));
  int writers = 0, readers = 0, permits = 0;
  for (const stay& s : stays_) {
    if (s.lock != lock || world_.time.now() < judged_from(l, s)) continue;
    const bool alone = s.how == lock_mode::exclusive;
    const std::string_view owner = now_owner(l);
    const bool is_writer =
        view_->kind_of(owner) == owner_is::claim && view_->claim_in(owner) == s.claim;
    const bool has_it = is_writer || (!alone && is_member(l, s.claim));
    judge_belief(l, s, has_it, judges_losses);
    if (!world_.is_content()) return;
    if (!s.turn->held()) continue;
    (alone ? writers : readers) += s.how == lock_mode::permit ? 0 : 1;
    permits += s.permits;
  }
  if (is_mutex && writers > 1) return world_.complain("one: two believe that they hold " + l.key);
  if (writers > 1 || (writers > 0 && readers > 0))
    world_.complain("together: " + std::to_string(writers) + " writers and " +
                    std::to_string(readers) + " readers believe that they hold " + l.key);
  if (permits > world_.schedule.permits)
    world_.complain("together: " + std::to_string(permits) + " permits are believed to be had");
}

}  // namespace holdfast::sim
