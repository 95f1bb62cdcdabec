#include "torture/fault.hpp"

#include "testkit/servers/redis_link.hpp"

namespace holdfast::torture {

void fault_log::strike(const fault& f, dice& choices) {
  std::size_t excuse = 0;
  const auto from = testkit::history_now();
  {
    const std::lock_guard guard(mutex_);
    history_.remark(std::to_string(from) + ' ' + f.name + " begins");
    ++counts_[f.name];
    if (f.excuse.count() != 0) {
      excuse = excuses_.size();
      excuses_.push_back({from, testkit::no_deadline});
    }
  }
  try {
    f.strike(choices);
  } catch (const testkit::redis_silent&) {
    // Another fault, or a sentinel, has cut the connection of the campaign itself.
  }
  const auto to = testkit::history_now();
  const std::lock_guard guard(mutex_);
  history_.remark(std::to_string(to) + ' ' + f.name + " ends");
  if (f.excuse.count() != 0) excuses_[excuse].to = to + std::chrono::nanoseconds(f.excuse).count();
}

void fault_log::add(const testkit::record& kill) {
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

}  // namespace holdfast::torture
