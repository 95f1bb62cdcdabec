#include "survey/model.hpp"

#include <algorithm>

#include "survey/load.hpp"

namespace survey {
namespace {

// The time for which one acquisition keeps the lock.
struct service {
  double mean_us = 0, variance_us2 = 0;
};

service service_of(const cell& c, const load& l) {
  const latencies held = all_of(c, &measurement::held), handoff = handoffs_of(c);
  const double hold_us = static_cast<double>(std::chrono::microseconds(l.hold).count());
  return {(held.count() > 0 ? held.mean_us() : hold_us) + handoff.mean_us(),
          held.variance_us2() + handoff.variance_us2()};
}

double free_acquire_us(const results& r, const cell& like) {
  for (const cell& c : r.cells)
    if (c.topology == like.topology && c.lock == like.lock && c.load == "free")
      return all_of(c, &measurement::acquire).mean_us();
  return 0;
}

// Pollaczek and Khinchine. An arrival that finds the lock free takes as long as with load "free".
double acquire_us(double per_us, const service& s, double free_us) {
  const double utilisation = per_us * s.mean_us;
  const double wait = per_us * (s.mean_us * s.mean_us + s.variance_us2) / (2 * (1 - utilisation));
  return wait + (1 - utilisation) * free_us;
}

void check_cell(const results& r, const cell& c, const load& l, std::vector<model_check>& all) {
  const service s = service_of(c, l);
  if (l.period.count() == 0) {
    all.push_back({&c, 1, "per second", 1e6 / s.mean_us, median(each(c, acquired_per_second))});
    return;
  }
  const double per_us = l.workers / (1e3 * static_cast<double>(l.period.count()));
  const double utilisation = per_us * s.mean_us;
  all.push_back({&c, utilisation, "success", std::min(1.0, 1 / utilisation), success_rate(c)});
  if (l.is_random && utilisation < 1)
    all.push_back({&c, utilisation, "acquire us", acquire_us(per_us, s, free_acquire_us(r, c)),
                   all_of(c, &measurement::acquire).mean_us()});
}

}  // namespace

std::vector<model_check> check_model(const results& r) {
  std::vector<model_check> all;
  for (const cell& c : r.cells) {
    const load* l = find_load(c.load);
    const bool is_queue = l && !l->own_locks && l->workers > 1;
    if (is_queue && handoffs_of(c).count() > 0) check_cell(r, c, *l, all);
  }
  return all;
}

}  // namespace survey
