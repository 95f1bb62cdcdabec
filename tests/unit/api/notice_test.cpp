// The thread that tells holders of doubts and losses.
#include <gtest/gtest.h>
#include <holdfast/holdfast.hpp>

#include <memory>
#include <system_error>

#include "api/client_access.hpp"
#include "testkit/manual_environment.hpp"

namespace {

using namespace std::chrono_literals;
namespace base = holdfast::base;

// Has no thread to give as long as the limit of processes is reached.
struct contended_environment final : base::environment {
  struct worker final : base::worker {
    explicit worker(contended_environment& e) : home(e) {}
    void post(std::function<void()> job) override {
      if (home.is_full) throw std::system_error(EAGAIN, std::generic_category());
      job();
    }
    contended_environment& home;
  };

  base::time_point now() noexcept override { return real.now(); }
  std::chrono::microseconds wall() noexcept override { return real.wall(); }
  void random(std::span<std::byte> to) noexcept override { real.random(to); }
  std::unique_ptr<base::alarm> make_alarm(base::alarm_target& target, const char* name) override {
    return real.make_alarm(target, name);
  }
  std::unique_ptr<base::worker> make_worker(const char*) override {
    return std::make_unique<worker>(*this);
  }

  holdfast::testkit::manual_environment real;
  bool is_full = true;
};

TEST(a_notice, that_finds_no_thread_is_given_with_the_next) {
  contended_environment env;
  const auto where = holdfast::url::parse("memory:");
  const auto c = holdfast::detail::client_access::open(where, {}, env);
  const auto lease = c.mutex("x").acquire({.ttl = 1s, .renew = holdfast::renewal::manual});
  const auto doubt = lease.doubt_token(), loss = lease.loss_token();
  holdfast::set_log_hook(nullptr);
  env.real.advance(950ms);
  EXPECT_FALSE(doubt.stop_requested());
  env.is_full = false;
  env.real.advance(1s);
  EXPECT_TRUE(doubt.stop_requested());
  EXPECT_TRUE(loss.stop_requested());
}

}  // namespace
