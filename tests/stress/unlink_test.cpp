// Lock files that come and go: every participant opens a client for each lock it takes, so files
// are removed and made anew all the time, while processes are killed and stopped at random. The
// clock jumps back and forth by an hour: only the directory's floor makes tokens grow.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <random>
#include <thread>

#include "api/client_access.hpp"
#include "base/environment.hpp"
#include "contenders.hpp"
#include "io/real_environment.hpp"
#include "mixed_player.hpp"
#include "player.hpp"
#include "run.hpp"

namespace stress {
namespace {

using namespace std::chrono_literals;
using holdfast::client;
namespace base = holdfast::base;

// The real environment but for the wall clock.
class jumping_clock final : public base::environment {
 public:
  base::time_point now() noexcept override { return real_.now(); }
  std::chrono::microseconds wall() noexcept override {
    const auto since = real_.now().time_since_epoch().count();
    return real_.wall() - std::chrono::microseconds(since % 3'600'000'000);
  }
  void random(std::span<std::byte> to) noexcept override { real_.random(to); }
  std::unique_ptr<base::alarm> make_alarm(base::alarm_target& t, const char* name) override {
    return real_.make_alarm(t, name);
  }
  base::process_identity process() override { return real_.process(); }
  std::unique_ptr<base::worker> make_worker(const char* name) override {
    return real_.make_worker(name);
  }

 private:
  base::environment& real_ = holdfast::io::real_environment();
};

client open_at(const std::string& url) {
  static jumping_clock& env = *new jumping_clock;
  return holdfast::detail::client_access::open(holdfast::url::parse(url), {}, env);
}

// Plays each time as another Player, with a client of its own.
template <class Player>
class visitor final : public participant {
 public:
  visitor(std::string url, std::string process, holdfast::history::history_writer& history,
          guarded_resource& resource, std::uint64_t seed)
      : participant(process, history, resource, {}, seed),
        url_(std::move(url)),
        process_(std::move(process)),
        history_(history),
        resource_(resource) {}

  void play() override {
    const auto own = open_at(url_);
    Player(own, process_, history_, resource_, {.longest_work = 300us}, up_to(1u << 30)).play();
  }

 private:
  const std::string url_, process_;
  holdfast::history::history_writer& history_;
  guarded_resource& resource_;
};

template <class Player>
casting visitors(std::string url) {
  return [url = std::move(url)](const client&, std::string process, auto& history, auto& resource,
                                std::uint64_t seed) {
    return std::make_unique<visitor<Player>>(url, std::move(process), history, resource, seed);
  };
}

// One of many locks, most of which nobody has used for a while.
class wanderer final : public participant {
 public:
  wanderer(const client& c, std::string process, holdfast::history::history_writer& history,
           guarded_resource& resource, habits h, std::uint64_t seed)
      : participant(std::move(process), history, resource, h, seed), client_(c) {}

  void play() override {
    for (int i = 0; i < 10; ++i) {
      const auto name = "stress/many/" + std::to_string(up_to(499));
      const auto lock = client_.mutex(name);
      auto r = begin(name, operation::acquire);
      std::error_code ec;
      auto held =
          up_to(2) == 0 ? lock.try_acquire({}, ec) : lock.try_acquire_for(wait_limit(), {}, {}, ec);
      if (!granted(std::move(r), held, ec)) continue;
      check(name, held);
      leave(name, std::move(held));
    }
  }

 private:
  const client& client_;
};

std::size_t files_of_locks(const std::filesystem::path& folder) {
  std::size_t count = 0;
  for (const auto& one : std::filesystem::directory_iterator(folder))
    count += one.path().extension() == ".lock" || one.path().extension() == ".waiters" ? 1 : 0;
  return count;
}

class stress_lock_files_that_come_and_go : public run {
 protected:
  std::string url() const { return "file://" + locks.path().string() + "?unlink=1"; }

  void play(contenders& all) {
    const auto many_grants = [](const std::vector<record>& history) {
      return std::ranges::count_if(history, [](const record& r) {
               return r.what == operation::acquire && r.outcome == result::ok;
             }) >= 300;
    };
    EXPECT_TRUE(all.harass({.processes = 5, .kills = 60, .apart = 60ms, .longest_pause = 30ms},
                           many_grants))
        << "a participant waits for ever, or crashed";
    auto history = all.history();
    int trouble = 0;
    for (const auto& r : history) {
      if (r.what != operation::acquire) continue;
      // Those who hold it together come in one by one: an attempt fails behind one that is stopped.
      const bool may_fail = r.shared || r.of != 0;
      trouble +=
          !may_fail && (r.outcome == result::refused || r.outcome == result::unknown) ? 1 : 0;
    }
    EXPECT_TRUE(many_grants(history));
    EXPECT_EQ(trouble, 0) << "an acquire failed that should have been granted or busy";
    expect_sound(std::move(history), {.wake_bound = wake_bound}, seed);
  }

  using operation = holdfast::history::operation;
  using record = holdfast::history::record;
  using result = holdfast::history::result;
  const holdfast::testkit::scratch_folder locks;
};

TEST_F(stress_lock_files_that_come_and_go, keep_every_promise_on_few_names) {
  contenders all(seed, url(), 3, visitors<player>(url()));
  play(all);
}

TEST_F(stress_lock_files_that_come_and_go, keep_every_promise_of_readers_and_permits) {
  contenders all(seed, url(), 3, visitors<mixed_player>(url()));
  play(all);
}

TEST_F(stress_lock_files_that_come_and_go, keep_every_promise_and_are_few_on_many_names) {
  contenders all(seed, url(), 3, visitors<wanderer>(url()));
  play(all);
  EXPECT_LT(files_of_locks(locks.path()), 200u) << "of 500 names";
}

}  // namespace
}  // namespace stress
