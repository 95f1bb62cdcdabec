#include "tests/interop/workers.hpp"

#include <algorithm>
#include <cstdio>
#include <sstream>
#include <thread>
#include <vector>

namespace holdfast::interop_test {

namespace {

struct worker {
  long long turns = 0;
  worker_clock::duration longest_wait{};
};

std::string nanoseconds(worker_clock::time_point at) {
  return std::to_string(std::chrono::nanoseconds(at.time_since_epoch()).count());
}

}  // namespace

turns_had play_workers(
    int count, counted_time counted,
    const std::function<worker_clock::time_point(std::size_t worker)>& take_turn) {
  std::vector<worker> all(static_cast<std::size_t>(count));
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < all.size(); ++i)
      threads.emplace_back([&, i] {
        for (auto begun = worker_clock::now(); begun < counted.to; begun = worker_clock::now()) {
          const auto granted = take_turn(i), since = std::max(begun, counted.from);
          all[i].longest_wait = std::max(all[i].longest_wait, granted - since);
          if (begun >= counted.from && granted < counted.to) ++all[i].turns;
        }
      });
  }
  turns_had out{.fewest = all.front().turns};
  for (const worker& w : all) {
    out.all += w.turns;
    out.fewest = std::min(out.fewest, w.turns);
    out.longest_wait = std::max(out.longest_wait, w.longest_wait);
  }
  return out;
}

std::string contenders_of(int count, const std::string& type, const std::string& name,
                          counted_time counted) {
  return "contenders " + type + ' ' + name + ' ' + std::to_string(count) + ' ' +
         nanoseconds(counted.from) + ' ' + nanoseconds(counted.to);
}

turns_had turns_in(const std::string& answer) {
  std::istringstream in(answer);
  turns_had out;
  long long most = 0, last = 0;
  in >> out.all >> most >> out.fewest;
  while (in >> last) out.longest_wait = std::chrono::nanoseconds(last);
  return out;
}

turns_of_both play_until_all_had_turns(const std::function<turns_of_both()>& play_a_period) {
  constexpr int periods_max = 6;
  for (int period = 1;; ++period) {
    const turns_of_both had = play_a_period();
    if ((had.them.fewest > 0 && had.us.fewest > 0) || period == periods_max) return had;
  }
}

void show(const std::string& layout, const std::string& whose, const turns_had& had) {
  using in_ms = std::chrono::duration<double, std::milli>;
  std::printf("%-17s %-29s %7lld turns, of a worker at least %6lld, longest wait %5.0f ms\n",
              layout.c_str(), whose.c_str(), had.all, had.fewest, in_ms(had.longest_wait).count());
}

}  // namespace holdfast::interop_test
