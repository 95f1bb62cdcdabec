#include "tests/sim/machine/explorer.hpp"

#include <algorithm>
#include <sstream>

namespace holdfast::sim {

namespace {

// The complaint without its numbers and ids. If the rule alone decided, shrinking could end at
// another fault that breaks the same rule.
std::string kind_of(const std::string& complaint) {
  std::string out;
  std::istringstream words(complaint);
  for (std::string word; words >> word;)
    if (word.find_first_of("0123456789") == word.npos) (out += word) += ' ';
  return out;
}

bool shows(const player& play, const plan& p, const std::string& kind) {
  return kind_of(play(p, nullptr, recording::off).complaint) == kind;
}

}  // namespace

plan shrink(const plan& found, const std::string& complaint, const player& play) {
  const std::string kind = kind_of(complaint);
  plan best = found;
  const auto take_if_it_shows = [&](const plan& p) {
    if (!shows(play, p, kind)) return false;
    best = p;
    return true;
  };
  for (std::size_t i = 0; i < best.faults.size();) {
    plan less = best;
    less.faults.erase(less.faults.begin() + static_cast<std::ptrdiff_t>(i));
    if (!take_if_it_shows(less)) ++i;
  }
  int plan::*const counts[] = {&plan::rounds, &plan::users, &plan::locks, &plan::clients};
  for (const auto count : counts) {
    for (;;) {
      plan less = best;
      const int least = count == &plan::clients ? 2 : 1;
      if (less.*count <= least) break;
      --(less.*count);
      for (fault& f : less.faults) f.whom %= static_cast<std::uint32_t>(less.clients);
      if (!take_if_it_shows(less)) break;
    }
  }
  double plan::*const shares[] = {&plan::split_share,   &plan::slow_share,    &plan::cancel_share,
                                  &plan::timed_share,   &plan::attempt_share, &plan::fragment_share,
                                  &plan::deadlock_share};
  for (const auto share : shares) {
    plan less = best;
    less.*share = 0;
    if (best.*share > 0) take_if_it_shows(less);
  }
  bool plan::*const flags[] = {&plan::parts_wait, &plan::has_small_limits};
  for (const auto flag : flags) {
    plan less = best;
    less.*flag = false;
    if (best.*flag) take_if_it_shows(less);
  }
  plan at_once = best;
  at_once.linger = {};
  if (best.linger.count() > 0) take_if_it_shows(at_once);
  return best;
}

std::uint64_t explore_all(std::uint64_t seed, const drawing& draw_one, const player& play,
                          const std::function<bool(const progress&)>& goes_on,
                          const std::function<void(const violation&)>& report) {
  progress so_far;
  std::uint64_t violations = 0;
  do {
    const plan p = draw_one(seed++);
    const result r = play(p, nullptr, recording::off);
    so_far.add(r);
    if (r.complaint.empty()) continue;
    ++violations;
    report({p, p, r.complaint});
  } while (goes_on(so_far));
  return violations;
}

std::optional<violation> explore(std::uint64_t seed, const drawing& draw_one, const player& play,
                                 const std::function<bool(const progress&)>& goes_on) {
  progress so_far;
  do {
    const plan p = draw_one(seed++);
    const result r = play(p, nullptr, recording::off);
    so_far.add(r);
    if (!r.complaint.empty()) return violation{p, shrink(p, r.complaint, play), r.complaint};
  } while (goes_on(so_far));
  return std::nullopt;
}

}  // namespace holdfast::sim
