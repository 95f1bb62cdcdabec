#include "witness.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace holdfast::redis_test {
namespace {

struct stretch {
  instant from, to;
};

// Where those under one lock weigh more than its capacity.
std::vector<stretch> excess_of(const std::vector<stay>& all) {
  std::map<instant, int> changes;
  for (const stay& s : all) {
    changes[s.from] += static_cast<int>(s.weight);
    changes[s.to] -= static_cast<int>(s.weight);
  }
  std::vector<stretch> excess;
  int weight = 0;
  for (auto at = changes.begin(); at != changes.end(); ++at) {
    weight += at->second;
    const bool is_too_much = weight > static_cast<int>(all.front().capacity);
    if (!is_too_much) continue;
    const instant end = std::next(at)->first;
    if (!excess.empty() && excess.back().to == at->first)
      excess.back().to = end;
    else
      excess.push_back({at->first, end});
  }
  return excess;
}

// From the first to the last moment of excess within each stay.
std::vector<stretch> excess_by_stay(const std::vector<stay>& all,
                                    const std::vector<stretch>& excess) {
  std::vector<stretch> spans;
  for (const stay& s : all) {
    stretch span{instant::max(), instant::min()};
    for (const stretch& e : excess) {
      if (e.to <= s.from || e.from >= s.to) continue;
      span.from = std::min(span.from, std::max(e.from, s.from));
      span.to = std::max(span.to, std::min(e.to, s.to));
    }
    if (span.from < span.to) spans.push_back(span);
  }
  std::ranges::sort(spans, {}, &stretch::from);
  return spans;
}

}  // namespace

std::vector<overlap> overlaps_in(std::vector<stay> all) {
  std::map<std::string, std::vector<stay>> by_lock;
  for (stay& s : all) by_lock[s.lock].push_back(std::move(s));
  std::vector<overlap> found;
  for (const auto& [lock, stays] : by_lock) {
    instant end = instant::min();
    for (const stretch& span : excess_by_stay(stays, excess_of(stays))) {
      if (span.from >= end) found.push_back({lock, span.from, {}});
      end = std::max(end, span.to);
      const auto length = std::chrono::ceil<std::chrono::milliseconds>(span.to - span.from);
      found.back().length = std::max(found.back().length, length);
    }
  }
  return found;
}

std::vector<stay> tokens_back_in(const std::vector<stay>& all) {
  std::map<std::string, std::map<instant, std::int64_t>> highest;  // by lock and time of the grant
  const auto is_exclusive = [](const stay& s) { return s.token != 0 && s.weight == s.capacity; };
  for (const stay& s : all)
    if (is_exclusive(s)) highest[s.lock][s.from] = s.token;
  for (auto& [lock, tokens] : highest) {
    std::int64_t most = 0;
    for (auto& [at, token] : tokens) token = most = std::max(most, token);
  }
  std::vector<stay> back;
  for (const stay& s : all) {
    if (!is_exclusive(s)) continue;
    const auto& tokens = highest[s.lock];
    const auto after = tokens.lower_bound(s.called);
    if (after != tokens.begin() && std::prev(after)->second >= s.token) back.push_back(s);
  }
  return back;
}

bool guarded_counter::write(std::int64_t token) noexcept {
  std::int64_t last = last_.load();
  while (token >= last)
    if (last_.compare_exchange_weak(last, token)) return true;
  return false;
}

void witness::add(const stay& s) {
  const std::lock_guard guard(mutex_);
  stays_.push_back(s);
}

std::vector<stay> witness::take() {
  const std::lock_guard guard(mutex_);
  return std::exchange(stays_, {});
}

}  // namespace holdfast::redis_test
