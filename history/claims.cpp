#include "history/claims.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

namespace holdfast::history {
namespace {

bool belongs_to(std::string_view process, std::string_view killed) {
  return process.starts_with(killed) &&
         (process.size() == killed.size() || process[killed.size()] == '.');
}

void note_end(claim_of_lock& claim, std::int64_t time) { claim.end = std::min(claim.end, time); }

void note_gone(claim_of_lock& claim, std::int64_t time, const record& by) {
  if (time >= claim.gone) return;
  claim.gone = time;
  claim.gone_by = &by;
}

void apply(claim_of_lock& claim, const record& r, std::chrono::nanoseconds lapse) {
  if (r.what == operation::release) {
    note_end(claim, r.call);
    const bool answered = r.outcome == result::ok || r.outcome == result::lost;
    note_gone(claim, answered ? r.back : later(r.back, lapse), r);
    return;
  }
  if (r.outcome == result::ok) {
    claim.seen_held.push_back(&r);
    if (r.what == operation::renew || r.deadline != no_deadline) claim.deadline = r.deadline;
    return;
  }
  if (r.what == operation::check || r.outcome == result::lost) note_end(claim, r.call);
  if (r.outcome != result::lost) return;
  note_gone(claim, later(r.back, lapse), r);
  if (claim.lost_by == nullptr) claim.lost_by = &r;
}

// When each process wrote its last record.
using last_words = std::map<std::string_view, std::int64_t>;

void find_claims(lock_history& one, std::span<const record* const> kills, const last_words& last,
                 std::chrono::nanoseconds lapse) {
  std::map<std::pair<std::string_view, std::int64_t>, std::size_t> of_token, of_process;
  for (const record* r : one.records) {
    const auto by_token = std::pair(std::string_view(r->process), r->token);
    const auto by_process = std::pair(std::string_view(r->process), std::int64_t{0});
    if (r->what == operation::acquire) {
      if (r->outcome != result::ok) continue;
      of_token[by_token] = of_process[by_process] = one.claims.size();
      one.claims.push_back({.acquire = r, .start = r->back, .deadline = r->deadline});
    } else if (r->what == operation::downgrade) {
      const auto found = of_token.find(by_token);
      if (found == of_token.end()) continue;
      claim_of_lock& alone = one.claims[found->second];
      if (r->outcome != result::ok) {
        apply(alone, *r, lapse);
        continue;
      }
      note_end(alone, r->call);
      note_gone(alone, r->back, *r);
      const auto deadline = r->deadline == no_deadline ? alone.deadline : r->deadline;
      of_token[by_token] = of_process[by_process] = one.claims.size();
      one.claims.push_back({.acquire = r, .start = r->back, .deadline = deadline});
    } else if (r->what == operation::notice) {
      const auto found = of_token.find(by_token);
      if (found != of_token.end()) one.claims[found->second].noticed = r->call;
    } else if (r->what != operation::write) {
      const auto& index = r->token == 0 ? of_process : of_token;
      const auto found = index.find(r->token == 0 ? by_process : by_token);
      if (found != index.end()) apply(one.claims[found->second], *r, lapse);
    }
  }
  for (auto& claim : one.claims) {
    note_end(claim, claim.deadline);
    for (const record* kill : kills) {
      // Until it was seen to be dead it may have acquired this. Then its number is another's.
      if (kill->back < claim.acquire->call) continue;
      if (!belongs_to(claim.acquire->process, kill->process)) continue;
      note_end(claim, std::min(kill->call, last.at(claim.acquire->process)));
      note_gone(claim, later(kill->back, lapse), *kill);
    }
  }
  std::ranges::stable_sort(one.claims, {}, &claim_of_lock::start);
}

}  // namespace

std::int64_t later(std::int64_t time, std::chrono::nanoseconds by) noexcept {
  return by.count() >= no_deadline - time ? no_deadline : time + by.count();
}

std::vector<lock_history> sort_by_lock(std::span<const record> records,
                                       std::chrono::nanoseconds lapse) {
  std::map<std::string_view, lock_history> by_name;
  std::vector<const record*> kills;
  last_words last;
  for (const record& r : records) {
    if (r.what == operation::kill) {
      kills.push_back(&r);
      continue;
    }
    by_name[r.lock].records.push_back(&r);
    if (r.what == operation::notice) continue;  // of another thread, so not the last record
    auto& time = last[r.process];
    time = std::max(time, r.back);
  }
  std::vector<lock_history> sorted;
  for (auto& [name, one] : by_name) {
    one.lock = name;
    std::ranges::stable_sort(one.records, {}, &record::call);
    find_claims(one, kills, last, lapse);
    sorted.push_back(std::move(one));
  }
  return sorted;
}

}  // namespace holdfast::history
