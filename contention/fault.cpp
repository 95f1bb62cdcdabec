#include "contention/fault.hpp"

#include <thread>

namespace holdfast::contention {

void fault_log::strike(const fault& f, dice& choices) {
  std::size_t excuse = 0;
  const auto from = history::history_now();
  {
    const std::lock_guard guard(mutex_);
    history_.remark(std::to_string(from) + ' ' + f.name + " begins");
    ++counts_[f.name];
    if (f.excuse.count() != 0) {
      excuse = excuses_.size();
      excuses_.push_back({from, history::no_deadline});
    }
  }
  f.strike(choices);
  const auto to = history::history_now();
  const std::lock_guard guard(mutex_);
  history_.remark(std::to_string(to) + ' ' + f.name + " ends");
  if (f.excuse.count() != 0) excuses_[excuse].to = to + std::chrono::nanoseconds(f.excuse).count();
}

void fault_log::add(const history::record& kill) {
  const std::lock_guard guard(mutex_);
  history_.add(kill);
}

std::map<std::string, std::uint64_t> fault_log::counts() const {
  const std::lock_guard guard(mutex_);
  return counts_;
}

std::vector<span_of_time> fault_log::excuses() const {
  const std::lock_guard guard(mutex_);
  return excuses_;
}

void strike_until(std::chrono::steady_clock::time_point end, const std::vector<fault>& all,
                  fault_log& log, dice& choices) {
  constexpr std::chrono::milliseconds shortest_pause{20}, longest_pause{600};
  if (all.empty()) return;
  for (;;) {
    const auto pause = choices.between(shortest_pause, longest_pause);
    if (std::chrono::steady_clock::now() + pause >= end) return;
    std::this_thread::sleep_for(pause);
    log.strike(all[choices.below(all.size())], choices);
  }
}

}  // namespace holdfast::contention
