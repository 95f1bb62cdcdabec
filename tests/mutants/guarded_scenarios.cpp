// Resources that are used through a lease, and elections.
#include "scenario.hpp"
#ifdef HOLDFAST_WITH_MEMORY
#include <system_error>

#include "fixture.hpp"

namespace holdfast::mutants {
namespace {

using base::mutant;

constexpr acquire_options ten_seconds = by_hand(10s);

// A resource behind a lock: the number of its uses.
struct guarded_count {
  guarded<int> uses{lock_name, 0};
  std::error_code use(const lease& by) {
    std::error_code ec;
    uses.with(
        by, [](int& count, const fence&) { ++count; }, ec);
    return ec;
  }
};

std::string a_lost_lease_gives_no_access() {
  fixture s;
  const auto by = s.open("").mutex(lock_name).acquire(ten_seconds);
  guarded_count resource;
  if (resource.use(by)) return "a live lease is refused";
  s.pass(11s);
  return resource.use(by) == errc::lost ? "" : "it is used under a lost lease";
}

std::string a_lease_in_doubt_gives_no_access() {
  fixture s;
  auto by = s.open("").mutex(lock_name).acquire(ten_seconds);
  guarded_count resource;
  s.pass(9500ms);
  if (!by.held()) return "the lease is lost";
  if (resource.use(by) != errc::unavailable) return "it is used while the lease is in doubt";
  by.extend(10s);
  return resource.use(by) ? "refused after the renewal" : "";
}

std::string a_lease_of_another_lock_gives_no_access() {
  fixture s;
  auto& c = s.open("ttl=60s");
  const auto other = c.mutex("another").acquire();
  guarded_count resource;
  return resource.use(other) == errc::mismatch ? "" : "it is used under another lock";
}

std::string a_share_gives_no_access() {
  fixture s;
  auto& c = s.open("ttl=60s");
  const auto share = c.shared_mutex(lock_name).acquire_shared();
  guarded_count resource;
  return resource.use(share) == errc::mismatch ? "" : "it is used under a share";
}

// Two stores, as after a split: each believes that its lease is live.
std::string an_earlier_lease_gives_no_access_after_a_later_one() {
  fixture s, split;
  auto earlier = s.open("ttl=60s").mutex(lock_name).acquire();
  auto& c = split.open("ttl=60s");
  auto later = c.mutex(lock_name).acquire();
  while (later.token() <= earlier.token()) {
    later.unlock();
    later = c.mutex(lock_name).acquire();
  }
  guarded_count resource;
  if (resource.use(earlier) || resource.use(later)) return "a live lease is refused";
  return resource.use(earlier) == errc::lost ? "" : "it is used under the smaller token";
}

std::string a_leader_without_its_lease_does_not_lead() {
  fixture s;
  election office(s.open(""), lock_name, ten_seconds);
  if (!office.try_campaign("a") || !office.is_leader()) return "nobody leads";
  s.pass(11s);
  return office.is_leader() ? "two may lead" : "";
}

std::string a_leader_that_campaigns_keeps_its_term() {
  fixture s;
  election office(s.open("ttl=60s"), lock_name);
  const auto token = office.campaign("a").token();
  return office.campaign("a").token() == token ? "" : "another candidate could have led between";
}

std::string a_reader_of_the_lock_is_not_its_leader() {
  fixture s;
  auto& c = s.open("ttl=60s");
  const auto share = c.shared_mutex(lock_name).acquire_shared();
  return election(c, lock_name).observe() ? "a reader is reported as the leader" : "";
}

constexpr scenario of_guarded[] = {
    {mutant::guarded_use_after_loss, "memory", a_lost_lease_gives_no_access},
    {mutant::guarded_use_in_doubt, "memory", a_lease_in_doubt_gives_no_access},
    {mutant::guarded_use_of_another_lock, "memory", a_lease_of_another_lock_gives_no_access},
    {mutant::guarded_use_by_share, "memory", a_share_gives_no_access},
    {mutant::guarded_use_after_later_holder, "memory",
     an_earlier_lease_gives_no_access_after_a_later_one},
    {mutant::deposed_leader_leads, "memory", a_leader_without_its_lease_does_not_lead},
    {mutant::leader_campaigns_anew, "memory", a_leader_that_campaigns_keeps_its_term},
    {mutant::reader_observed_as_leader, "memory", a_reader_of_the_lock_is_not_its_leader},
};

}  // namespace

std::span<const scenario> guarded_scenarios() { return of_guarded; }

}  // namespace holdfast::mutants
#else
std::span<const holdfast::mutants::scenario> holdfast::mutants::guarded_scenarios() { return {}; }
#endif
