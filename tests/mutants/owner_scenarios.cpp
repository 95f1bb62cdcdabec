// No client removes or extends another owner's lock.
#include <set>

#include "scenario.hpp"
#ifdef HOLDFAST_WITH_MEMORY
#include "fixture.hpp"

namespace holdfast::mutants {
namespace {

using base::mutant;

std::string no_two_grants_have_one_owner() {
  fixture s;
  auto& c = s.open("");
  const auto one_lock = c.mutex(lock_name);  // so that all is asked by the same claim
  std::set<std::string> owners;
  for (int times = 0; times < 3; ++times) {
    auto held = s.acquire(c)->result();
    const auto shown = c.list(lock_name);
    if (shown.size() != 1) return "not shown";
    const bool is_new = owners.insert(shown[0].owner).second;
    if (!is_new) return "a late request of the last claim fits this one";
    held.release();
  }
  return "";
}

std::string a_late_release_frees_nobody_else() {
  fixture s;
  auto& stopped = s.open("");
  auto& next = s.open("ttl=60s");
  auto& third = s.open("");
  auto stale = s.acquire(stopped, by_hand(1s))->result();
  s.store.stop_requests_of(stopped);
  const auto waiting = s.acquire(next);
  if (!s.passes_until(*waiting, 10s)) return "the lock never came free";
  const auto held = waiting->result();
  s.store.resume_requests_of(stopped);
  stale.unlock();
  s.pass(1s);
  if (!held.held()) return "not held";
  return s.attempt(third) ? "the stale holder released the lock of the next" : "";
}

std::string a_renewal_extends_nobody_else() {
  fixture s;
  auto& first = s.open("ttl=3s");
  auto& second = s.open("ttl=60s");
  const auto robbed = s.acquire(first)->result();
  if (!s.store.remove(lock_name)) return "it was not held at the store";
  const auto held = s.acquire(second)->result();
  s.pass(2s);
  return robbed.held() && held.held() ? "two hold the lock, and both are renewed" : "";
}

constexpr scenario of_owner[] = {
    {mutant::owner_id_reused, "memory", no_two_grants_have_one_owner},
    {mutant::delete_without_owner, "memory", a_late_release_frees_nobody_else},
    {mutant::renew_without_owner, "memory", a_renewal_extends_nobody_else},
};

}  // namespace

std::span<const scenario> owner_scenarios() { return of_owner; }

}  // namespace holdfast::mutants
#else
std::span<const holdfast::mutants::scenario> holdfast::mutants::owner_scenarios() { return {}; }
#endif
