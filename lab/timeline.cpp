#include "lab/timeline.hpp"

#include <algorithm>
#include <cmath>

namespace holdfast::lab {

std::size_t timeline::add_lane(std::string name) {
  const std::lock_guard guard(mutex_);
  lanes_.push_back(std::move(name));
  return lanes_.size() - 1;
}

double timeline::now() {
  using clock = std::chrono::steady_clock;
  const auto at = clock::now();
  if (start_ == clock::time_point()) start_ = at;
  length_ = std::max(length_, std::chrono::duration<double, std::milli>(at - start_).count());
  return std::chrono::duration<double, std::milli>(at - start_).count();
}

void timeline::note(std::size_t lane, std::string text, tone how) {
  const std::lock_guard guard(mutex_);
  events_.push_back({lane, now(), std::move(text), how});
}

void timeline::begin(std::size_t lane, activity what) {
  end(lane);
  const std::lock_guard guard(mutex_);
  span begun;
  begun.begin = now();
  begun.lane = lane;
  begun.what = what;
  open_.push_back(begun);
}

void timeline::end(std::size_t lane) {
  const std::lock_guard guard(mutex_);
  const auto of_lane = [lane](const span& s) { return s.lane == lane; };
  const auto at = std::find_if(open_.begin(), open_.end(), of_lane);
  if (at == open_.end()) return;
  at->end = now();
  spans_.push_back(*at);
  open_.erase(at);
}

void timeline::finish() {
  const std::lock_guard guard(mutex_);
  for (span& s : open_) {
    s.end = now();
    spans_.push_back(s);
  }
  open_.clear();
  const auto earlier = [](const event& a, const event& b) { return a.at < b.at; };
  std::stable_sort(events_.begin(), events_.end(), earlier);
}

std::vector<interval> timeline::overlaps() const {
  struct change {
    double at;
    int by;
  };
  std::vector<change> changes;
  for (const span& s : spans_) {
    if (s.what != activity::holds && s.what != activity::believes) continue;
    changes.push_back({s.begin, 1});
    changes.push_back({s.end, -1});
  }
  // An end before a beginning at the same moment: a hand-over is no overlap.
  std::sort(changes.begin(), changes.end(), [](const change& a, const change& b) {
    return a.at != b.at ? a.at < b.at : a.by < b.by;
  });
  std::vector<interval> found;
  int holders = 0;
  for (const change& c : changes) {
    const int before = holders;
    holders += c.by;
    if (before < 2 && holders >= 2) found.push_back({c.at, c.at});
    if (before >= 2 && holders < 2) found.back().end = c.at;
  }
  return found;
}

std::vector<std::string> wrapped(const std::string& text, std::size_t width) {
  std::vector<std::string> lines;
  std::string rest = text;
  while (rest.size() > width) {
    std::size_t at = rest.rfind(' ', width);
    if (at == std::string::npos || at == 0) at = width;
    lines.push_back(rest.substr(0, at));
    rest.erase(0, rest[at] == ' ' ? at + 1 : at);
  }
  lines.push_back(rest);
  return lines;
}

double tick_of(double length) {
  constexpr double most = 8;
  double tick = std::pow(10.0, std::floor(std::log10(length / most)));
  for (const double factor : {2.0, 2.5, 2.0}) {
    if (length / tick <= most) break;
    tick *= factor;
  }
  return std::max(tick, 1.0);
}

std::string in_ms(double time) { return std::to_string(std::lround(time)) + " ms"; }

}  // namespace holdfast::lab
