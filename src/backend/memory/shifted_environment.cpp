#include "backend/memory/shifted_environment.hpp"

#include <algorithm>
#include <map>
#include <string>

namespace holdfast::memory {

// Uses an alarm of the real clock, and sets it again when the shifted clock is moved.
class shifted_environment::shifted_alarm final : public base::alarm, private base::alarm_target {
 public:
  shifted_alarm(shifted_environment& e, base::alarm_target& to, const char* thread_name)
      : env_(e), target_(to), real_(e.real_.make_alarm(*this, thread_name)) {
    const std::lock_guard guard(env_.mutex_);
    env_.alarms_.push_back(this);
  }
  ~shifted_alarm() override {
    {
      const std::lock_guard guard(env_.mutex_);
      std::erase(env_.alarms_, this);
    }
    real_.reset();  // waits for a call in progress
  }

  bool set(base::time_point t) noexcept override {
    const std::lock_guard guard(mutex_);
    due_ = t;
    if (set_real()) return true;
    due_ = base::never;
    return false;
  }
  void clock_moved() noexcept {
    const std::lock_guard guard(mutex_);
    (void)set_real();  // a time is due only where the real alarm could be set
  }

 private:
  void on_alarm(base::time_point) override {
    {
      const std::lock_guard guard(mutex_);
      if (due_ == base::never) return;  // cancelled meanwhile
      if (env_.now() < due_) {
        (void)set_real();
        return;
      }
      due_ = base::never;
    }
    target_.on_alarm(env_.now());
  }
  bool set_real() noexcept { return real_->set(due_ == base::never ? due_ : due_ - env_.ahead()); }

  shifted_environment& env_;
  base::alarm_target& target_;
  std::mutex mutex_;  // guards due_ and the setting of real_
  base::time_point due_ = base::never;
  std::unique_ptr<base::alarm> real_;
};

void shifted_environment::advance(base::duration d) noexcept {
  const std::lock_guard guard(mutex_);
  ahead_ += std::max(d, base::duration::zero()).count();
  for (shifted_alarm* const a : alarms_) a->clock_moved();
}

std::unique_ptr<base::alarm> shifted_environment::make_alarm(base::alarm_target& to,
                                                             const char* thread_name) {
  return std::make_unique<shifted_alarm>(*this, to, thread_name);
}

shifted_environment& environment_of(std::string_view store_name) {
  static std::mutex& mutex = *new std::mutex;
  static auto& by_name = *new std::map<std::string, shifted_environment, std::less<>>;
  const std::lock_guard guard(mutex);
  const auto found = by_name.find(store_name);
  if (found != by_name.end()) return found->second;
  base::environment& real = base::system_environment();
  return by_name.try_emplace(std::string(store_name), real).first->second;
}

}  // namespace holdfast::memory
