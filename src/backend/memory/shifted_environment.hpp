// The environment of the clients of one named store: the real one with a clock that tests advance.
#pragma once
#include <atomic>
#include <mutex>
#include <string_view>
#include <vector>

#include "base/environment.hpp"

namespace holdfast::memory {

class shifted_environment final : public base::environment {
 public:
  explicit shifted_environment(base::environment& real) noexcept : real_(real) {}

  void advance(base::duration) noexcept;

  base::time_point now() noexcept override { return real_.now() + ahead(); }
  base::duration ahead() noexcept override { return base::duration(ahead_.load()); }
  std::chrono::microseconds wall() noexcept override {
    return real_.wall() + std::chrono::floor<std::chrono::microseconds>(ahead());
  }
  void random(std::span<std::byte> to) noexcept override { real_.random(to); }
  std::unique_ptr<base::alarm> make_alarm(base::alarm_target&, const char* thread_name) override;
  std::unique_ptr<base::worker> make_worker(const char* thread_name) override {
    return real_.make_worker(thread_name);
  }

 private:
  class shifted_alarm;

  base::environment& real_;
  std::atomic<base::duration::rep> ahead_{0};
  std::mutex mutex_;  // guards:
  std::vector<shifted_alarm*> alarms_;
};

// The environment of the store of this name. Never freed: leases may outlive main().
shifted_environment& environment_of(std::string_view store_name);

}  // namespace holdfast::memory
