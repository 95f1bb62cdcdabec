#include "tests/sim/program/survey.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <iostream>
#include <string>
#include <vector>

#include "tests/sim/machine/explorer.hpp"
#include "tests/sim/memory/player.hpp"
#include "tests/sim/program/playable.hpp"

namespace holdfast::sim {

namespace {

class stopwatch {  // of processor time
 public:
  double minutes() const noexcept {
    return static_cast<double>(std::clock() - began_) / CLOCKS_PER_SEC / 60;
  }

 private:
  const std::clock_t began_ = std::clock();
};

// The lists of rules that the rows name by a letter.
class rule_lists {
 public:
  char letter_of(const rule_set& rules) {
    const auto found = std::ranges::find(all_, rules);
    const auto place = static_cast<char>(found - all_.begin());
    if (found == all_.end()) all_.push_back(rules);
    return static_cast<char>('A' + place);
  }
  void print() const {
    for (std::size_t i = 0; i < all_.size(); ++i)
      std::printf("rules %c: %s\n", static_cast<char>('A' + i), all_[i].text().c_str());
  }

 private:
  std::vector<rule_set> all_;
};

constexpr const char* row_form = "%-10s %-36s %7s %12s %14s %8s %11s  %s\n";

void print_row(const std::string& backend, const std::string& layout, const progress& p,
               double minutes, std::uint64_t violations, char rules) {
  const auto each_minute = [&](std::uint64_t count) {
    return std::to_string(static_cast<std::uint64_t>(static_cast<double>(count) / minutes));
  };
  const std::string excused = std::to_string(std::lround(p.excused_percent())) + " %";
  std::printf(row_form, backend.c_str(), layout.c_str(), std::to_string(p.schedules).c_str(),
              each_minute(p.schedules).c_str(), each_minute(p.events).c_str(), excused.c_str(),
              std::to_string(violations).c_str(), std::string(1, rules).c_str());
  std::fflush(stdout);
}

std::uint64_t explore_one(const playable& l, double minutes_each, std::uint64_t seed,
                          rule_lists& lists) {
  const std::string layout = title_of(l);
  const stopwatch watch;
  progress last;
  const std::uint64_t violations = explore_all(
      seed, l.draw, l.play,
      [&](const progress& p) {
        last = p;
        return watch.minutes() < minutes_each;
      },
      [&](const violation& v) {
        std::cout << "VIOLATION of " << layout << " at seed " << v.whole.seed << ": " << v.complaint
                  << std::endl;
      });
  print_row(l.backend, layout, last, watch.minutes(), violations, lists.letter_of(last.rules));
  return violations;
}

// It is compared and not judged.
void play_memories(double minutes_each, std::uint64_t seed) {
  const stopwatch watch;
  std::uint64_t count = 0;
  do {
    play_memory(seed + count++);
  } while (watch.minutes() < minutes_each);
  const auto each_minute = static_cast<std::uint64_t>(static_cast<double>(count) / watch.minutes());
  std::printf(row_form, "memory", "memory", std::to_string(count).c_str(),
              std::to_string(each_minute).c_str(), "-", "-", "-", "- (compared by --digest)");
}

}  // namespace

std::uint64_t survey(double minutes_each, std::uint64_t seed) {
  std::printf(row_form, "backend", "layout", "played", "schedules/m", "events/m", "excused",
              "violations", "rules");
  rule_lists lists;
  std::uint64_t violations = 0;
  for (const playable& l : all_playable()) violations += explore_one(l, minutes_each, seed, lists);
  play_memories(minutes_each, seed);
  lists.print();
  return violations;
}

}  // namespace holdfast::sim
