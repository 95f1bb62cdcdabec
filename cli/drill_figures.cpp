#include "cli/drill_figures.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "history/checker.hpp"
#include "history/claims.hpp"

namespace holdfast::cli {
namespace {

using history::claim_of_lock;
using history::operation;
using history::record;
using history::result;

// "w3" of "w3.1".
std::string_view process_of(const record& r) {
  return std::string_view(r.process).substr(0, r.process.find('.'));
}

void count(const record& r, drill_figures& into) {
  ++into.calls;
  into.grants += r.what == operation::acquire && r.outcome == result::ok ? 1 : 0;
  into.losses += r.what == operation::check && r.outcome == result::lost ? 1 : 0;
  if (r.what != operation::write) return;
  ++(r.planted ? into.planted_writes : into.writes);
  if (r.outcome == result::refused)
    ++(r.planted ? into.refused_planted_writes : into.refused_writes);
}

void measure(const claim_of_lock& before, const claim_of_lock& next, drill_figures& into) {
  const bool is_release = before.gone_by != nullptr && before.gone_by->what == operation::release &&
                          before.gone_by->outcome != result::lost;
  if (is_release) {
    const bool has_waited = next.acquire->call < before.gone_by->call;
    if (has_waited && process_of(*next.acquire) != process_of(*before.acquire))
      into.hand_offs.emplace_back(next.start - before.gone_by->call);
  } else if (before.deadline != history::no_deadline && before.gone_by != nullptr) {
    into.margins.emplace_back(next.start - before.deadline);
  }
}

void judge(std::span<const record> all, const history::check_options& options,
           drill_figures& into) {
  using history::fault;
  for (const history::violation& v : history::check(all, options)) {
    switch (v.what) {
      case fault::overlap:
      case fault::too_many_permits: ++into.overlaps; break;
      case fault::stale_write: ++into.stale_writes; break;
      default: ++into.other_violations;
    }
  }
}

}  // namespace

drill_figures figures_of(std::span<const record> all, std::chrono::nanoseconds lapse,
                         bool readers_share_a_token) {
  drill_figures figures;
  for (const record& r : all) count(r, figures);
  for (const auto& one : history::sort_by_lock(all, lapse)) {
    const auto is_exclusive = [](const claim_of_lock& c) {
      return !c.is_share() && !c.is_of_permits();
    };
    if (!std::ranges::all_of(one.claims, is_exclusive)) continue;
    for (std::size_t i = 1; i < one.claims.size(); ++i)
      measure(one.claims[i - 1], one.claims[i], figures);
  }
  judge(all, {.lapse = lapse, .readers_share_a_token = readers_share_a_token}, figures);
  return figures;
}

std::chrono::nanoseconds quantile(std::vector<std::chrono::nanoseconds> values, double share) {
  if (values.empty()) return {};
  const auto last = static_cast<double>(values.size() - 1);
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(std::ceil(share * last));
  std::ranges::nth_element(values, at);
  return *at;
}

}  // namespace holdfast::cli
