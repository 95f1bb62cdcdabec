#include "cli/drill_figures.hpp"

#include <algorithm>
#include <cmath>

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
  if (r.what == operation::notice) return;
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

// The check that reports the loss has the latest deadline: a renewal after the last true check is
// not recorded.
std::int64_t last_deadline(const claim_of_lock& c) {
  const bool is_known = c.lost_by != nullptr && c.lost_by->deadline != history::no_deadline;
  return is_known ? c.lost_by->deadline : c.deadline;
}

void measure_notice(const claim_of_lock& lost, const claim_of_lock* next, drill_figures& into) {
  if (lost.noticed == history::no_deadline) return;
  if (next != nullptr && process_of(*next->acquire) != process_of(*lost.acquire))
    into.notices_before_grant.emplace_back(next->start - lost.noticed);
  if (const auto deadline = last_deadline(lost); deadline != history::no_deadline)
    into.notices_after_deadline.emplace_back(lost.noticed - deadline);
}

void measure_all(std::span<const claim_of_lock> claims, drill_figures& into) {
  for (std::size_t i = 0; i < claims.size(); ++i) {
    const claim_of_lock* const next = i + 1 < claims.size() ? &claims[i + 1] : nullptr;
    if (next != nullptr) measure(claims[i], *next, into);
    measure_notice(claims[i], next, into);
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
    if (std::ranges::all_of(one.claims, is_exclusive)) measure_all(one.claims, figures);
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
