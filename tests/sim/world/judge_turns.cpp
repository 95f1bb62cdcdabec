// The judge's view of those who hold a lock, by what they were told.
#include <algorithm>

#include "tests/sim/world/judge.hpp"
#include "tests/sim/world/machine.hpp"
#include "tests/sim/world/world.hpp"

namespace holdfast::sim {

void judge::begins(const stay& s) {
  for (const stay& other : stays_)
    if (other.lock == s.lock && other.where == s.where &&
        (other.how == lock_mode::exclusive || s.how == lock_mode::exclusive))
      complain("turns: a turn began while an earlier one in the process was not left");
  stays_.push_back(s);
  lock_state& l = locks_[static_cast<std::size_t>(s.lock)];
  const auto found = l.ever.find(s.claim);
  // A reader may follow a writer of its process under the same grant.
  if (s.how == lock_mode::exclusive || found == l.ever.end()) return judge_token(l, stays_.back());
  // Past the end of its lease a late question may have brought it into another group.
  const membership& m = found->second;
  if (s.how == lock_mode::shared && s.turn->token / 1024 != m.number &&
      world_.time.now() >= m.judged_from) {
    complain("group: a reader was given " + std::to_string(s.turn->token / 1024) +
             ", its group has " + std::to_string(m.number));
  }
}

bool judge::fits(const lock_state& l, const ownership& mine, std::int64_t number) noexcept {
  return std::all_of(l.owners.begin(), l.owners.end(), [&](const ownership& o) {
    if (&o == &mine || o.number == 0) return true;
    return &o < &mine ? o.number < number : o.number > number;
  });
}

// What a claim is told may be of an ownership that has passed since.
void judge::judge_token(lock_state& l, stay& s) {
  const std::int64_t number = s.turn->token / 1024;
  for (auto o = l.owners.rbegin(); o != l.owners.rend(); ++o) {
    if (o->claim != s.claim) continue;
    s.place = static_cast<std::size_t>(&*o - l.owners.data());
    if (o->number == number) {
      const bool is_next =
          s.how == lock_mode::shared ? s.turn->token >= o->token : s.turn->token > o->token;
      if (!is_next) complain("tokens: a turn's is not above the one before it");
      o->token = s.turn->token;
      return;
    }
    if (o->number != 0 || !fits(l, *o, number)) continue;
    o->number = number;
    o->token = s.turn->token;
    return;
  }
  complain("tokens: " + s.claim + " was given " + std::to_string(number) +
           ", which is not in the order in which it and others had the lock");
}

std::optional<stay> judge::withhold(const detail::turn* t) noexcept {
  const auto found =
      std::find_if(stays_.begin(), stays_.end(), [&](const stay& s) { return s.turn == t; });
  if (found == stays_.end()) return std::nullopt;
  const stay out = *found;
  stays_.erase(found);
  return out;
}

void judge::goes_on(const stay& s) { stays_.push_back(s); }

void judge::ends(const detail::turn* t) noexcept {
  std::erase_if(stays_, [&](const stay& s) { return s.turn == t; });
}

bool judge::is_kept_by_a_loser(int lock, const machine& where) const noexcept {
  return std::any_of(stays_.begin(), stays_.end(), [&](const stay& s) {
    return s.lock == lock && s.where == &where && s.how != lock_mode::permit && !s.turn->held();
  });
}

// Who believes that it holds it has it, and who has it was not told otherwise.
void judge::judge_belief(const lock_state& l, const stay& s, bool has_it, bool judges_losses) {
  const auto client = [&] { return "client " + std::to_string(s.where->number()); };
  if (judges_losses && detail::turn::is_loss(s.turn->now) && has_it &&
      s.where->now() < s.turn->deadline.load())
    return complain("lost: " + client() + " was told that it has lost " + l.key + ", and has it");
  if (s.turn->held() && !has_it)
    complain("one: " + client() + " believes that it holds " + l.key + " as " + s.claim +
             "; at the server it is \"" + std::string(now_owner(l)) + '"');
}

void judge::judge_holders(int lock) {
  const lock_state& l = locks_[static_cast<std::size_t>(lock)];
  const stay* first = nullptr;
  for (const stay& s : stays_) {
    if (s.lock != lock || l.owners.empty()) continue;
    if (world_.time.now() < l.owners[s.place].judged_from) continue;
    const bool has_it = now_owner(l).ends_with(s.claim);
    judge_belief(l, s, has_it, !clock_leaps_);
    if (!is_content()) return;
    if (!s.turn->held()) continue;
    if (first) return complain("one: two believe that they hold " + l.key);
    first = &s;
  }
}

}  // namespace holdfast::sim
