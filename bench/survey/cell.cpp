#include "survey/cell.hpp"

namespace survey {
namespace {

double per_acquisition(const cell& c, double amount) {
  const auto acquired = total(c, [](const measurement& m) { return m.acquired; });
  return acquired == 0 ? 0 : amount / static_cast<double>(acquired);
}

}  // namespace

double median(std::vector<double> all) {
  if (all.empty()) return 0;
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
  std::nth_element(all.begin(), middle, all.end());
  return *middle;
}

latencies all_of(const cell& c, latencies measurement::*which) {
  latencies sum;
  for (const measurement& m : c.runs) sum.add(m.*which);
  return sum;
}

bool is_optimistic(const cell& c) { return c.lock == "version" || c.lock == "update-time"; }

latencies handoffs_of(const cell& c) {
  return is_optimistic(c) ? latencies() : all_of(c, &measurement::handoff);
}

double acquired_per_second(const measurement& m) {
  return m.seconds > 0 ? static_cast<double>(m.acquired) / m.seconds : 0;
}

double success_rate(const cell& c) {
  const auto attempts = total(c, [](const measurement& m) { return m.attempts; });
  const auto acquired = total(c, [](const measurement& m) { return m.acquired; });
  return attempts == 0 ? 0 : static_cast<double>(acquired) / static_cast<double>(attempts);
}

double commands_per_acquisition(const cell& c) {
  return per_acquisition(c, total(c, [](const measurement& m) { return m.server_commands; }));
}

double bytes_per_acquisition(const cell& c) {
  return per_acquisition(c, total(c, [](const measurement& m) { return m.bytes; }));
}

double client_us_per_acquisition(const cell& c) {
  return 1e6 * per_acquisition(c, total(c, [](const measurement& m) { return m.client_cpu; }));
}

double server_us_per_acquisition(const cell& c) {
  return 1e6 * per_acquisition(c, total(c, [](const measurement& m) { return m.server_cpu; }));
}

std::string verdict(const cell& c) {
  if (!c.refused.empty()) return c.refused;
  if (total(c, [](const measurement& m) { return m.overlaps; }) > 0) return "failed";
  return "ok";
}

}  // namespace survey
