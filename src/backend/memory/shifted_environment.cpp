#include "backend/memory/shifted_environment.hpp"

#include <algorithm>
#include <map>
#include <string>

namespace holdfast::memory {

// Uses an alarm of the real clock, and sets it again when the shifted clock is moved.
class shifted_environment::shifted_alarm final : public core::alarm, private core::alarm_target {
 public:
  shifted_alarm(shifted_environment& e, core::alarm_target& to, const char* thread_name)
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

  bool set(core::time_point t) noexcept override {
    const std::lock_guard guard(mutex_);
    due_ = t;
    if (set_real()) return true;
    due_ = core::never;
    return false;
  }
  void clock_moved() noexcept {
    const std::lock_guard guard(mutex_);
    (void)set_real();  // a time is due only where the real alarm could be set
  }

 private:
  void on_alarm(core::time_point) override {
    {
      const std::lock_guard guard(mutex_);
      if (due_ == core::never) return;  // cancelled meanwhile
      if (env_.now() < due_) {
        (void)set_real();
        return;
      }
      due_ = core::never;
    }
    target_.on_alarm(env_.now());
  }
  bool set_real() noexcept { return real_->set(due_ == core::never ? due_ : due_ - env_.ahead()); }

  shifted_environment& env_;
  core::alarm_target& target_;
  std::mutex mutex_;  // guards due_ and the setting of real_
  core::time_point due_ = core::never;
  std::unique_ptr<core::alarm> real_;
};

void shifted_environment::advance(core::duration d) noexcept {
  const std::lock_guard guard(mutex_);
  ahead_ += std::max(d, core::duration::zero()).count();
  for (shifted_alarm* const a : alarms_) a->clock_moved();
}

std::unique_ptr<core::alarm> shifted_environment::make_alarm(core::alarm_target& to,
                                                             const char* thread_name) {
  return std::make_unique<shifted_alarm>(*this, to, thread_name);
}

shifted_environment& environment_of(std::string_view store_name) {
  static std::mutex& mutex = *new std::mutex;
  static auto& by_name = *new std::map<std::string, shifted_environment, std::less<>>;
  const std::lock_guard guard(mutex);
  const auto found = by_name.find(store_name);
  if (found != by_name.end()) return found->second;
  core::environment& real = core::system_environment();
  return by_name.try_emplace(std::string(store_name), real).first->second;
}

}  // namespace holdfast::memory
