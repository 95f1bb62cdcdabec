// Processes with threads on lock files, killed and stopped at random.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <thread>
#include <vector>

#include "player.hpp"
#include "testkit/checker.hpp"

namespace stress {
namespace {

using namespace std::chrono_literals;
using holdfast::testkit::history_now;
using holdfast::testkit::history_writer;
using holdfast::testkit::operation;
using holdfast::testkit::record;
using holdfast::testkit::result;

constexpr int processes = 4;
constexpr int threads = 3;
constexpr auto run_time = 7s;

struct shared_state {
  guarded_resource resource;
  std::atomic<bool> over{false};
};

class crowd {
 public:
  explicit crowd(std::uint64_t seed) : numbers_(seed), report_(folder_.path() + "/of-the-killer") {
    void* const place = ::mmap(nullptr, sizeof(shared_state), PROT_READ | PROT_WRITE,
                               MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (place == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
    shared_ = new (place) shared_state;
    std::filesystem::create_directory(folder_.path() + "/locks");
    std::filesystem::permissions(folder_.path() + "/locks", std::filesystem::perms::owner_all);
  }
  ~crowd() { ::munmap(shared_, sizeof(shared_state)); }

  void add() {
    const auto seed = numbers_();
    const pid_t child = ::fork();
    if (child == 0) run(seed);
    all_.push_back(child);
  }

  void kill_one() {
    const auto victim = any();
    record r;
    r.process = std::to_string(*victim);
    r.lock = "-";
    r.what = operation::kill;
    r.call = history_now();
    ::kill(*victim, SIGKILL);
    ::waitpid(*victim, nullptr, 0);
    r.back = history_now();
    report_.add(r);
    all_.erase(victim);
  }

  void pause_one() {
    const pid_t one = *any();
    ::kill(one, SIGSTOP);
    std::this_thread::sleep_for(std::chrono::milliseconds(numbers_() % 100));
    ::kill(one, SIGCONT);
  }

  // True when all have ended by themselves.
  bool finish() {
    shared_->over = true;
    bool well = true;
    const auto until = std::chrono::steady_clock::now() + 30s;
    for (const pid_t one : all_) {
      int status = 0;
      while (::waitpid(one, &status, WNOHANG) == 0) {
        if (std::chrono::steady_clock::now() > until) ::kill(one, SIGKILL);
        std::this_thread::sleep_for(1ms);
      }
      well = well && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }
    return well;
  }

  std::vector<record> history() const {
    std::vector<record> all;
    for (const auto& one : std::filesystem::directory_iterator(folder_.path())) {
      if (one.is_directory()) continue;
      auto part = holdfast::testkit::read_history(one.path());
      std::ranges::move(part.records, std::back_inserter(all));
    }
    return all;
  }

 private:
  std::vector<pid_t>::iterator any() {
    return all_.begin() + static_cast<std::ptrdiff_t>(numbers_() % all_.size());
  }

  [[noreturn]] void run(std::uint64_t seed) {
    const auto me = std::to_string(::getpid());
    history_writer writer(folder_.path() + "/" + me);
    const auto client = holdfast::client::open("file://" + folder_.path() + "/locks");
    std::vector<std::jthread> all;
    for (int i = 0; i < threads; ++i) {
      all.emplace_back([&, i] {
        player one(client, me + "." + std::to_string(i), writer, shared_->resource, {}, seed + i);
        while (!shared_->over) one.play();
      });
    }
    all.clear();
    ::_exit(0);
  }

  std::mt19937_64 numbers_;
  scratch_folder folder_;
  history_writer report_;
  shared_state* shared_;
  std::vector<pid_t> all_;
};

TEST(stress_processes_on_lock_files, keep_every_promise_while_they_are_killed_and_stopped) {
  const auto seed = seed_of_run();
  SCOPED_TRACE("HOLDFAST_STRESS_SEED=" + std::to_string(seed));
  crowd all(seed);
  for (int i = 0; i < processes; ++i) all.add();
  int kills = 0;
  for (const auto until = std::chrono::steady_clock::now() + run_time;
       std::chrono::steady_clock::now() < until; ++kills) {
    std::this_thread::sleep_for(150ms);
    all.pause_one();
    all.kill_one();
    all.add();
  }
  EXPECT_TRUE(all.finish()) << "somebody waits for ever, or crashed";

  const auto history = all.history();
  std::set<std::string> holders;
  for (const auto& r : history) {
    if (r.what == operation::acquire && r.outcome == result::ok) holders.insert(r.process);
    EXPECT_FALSE(r.what == operation::write && r.outcome == result::refused)
        << "a living holder had an old token: " << to_line(r);
    EXPECT_FALSE(r.what == operation::acquire && r.outcome == result::unknown) << to_line(r);
    EXPECT_FALSE(r.what == operation::check && r.outcome != result::ok) << to_line(r);
  }
  RecordProperty("records", static_cast<int>(history.size()));
  EXPECT_GE(kills, 10);
  EXPECT_GE(holders.size(), std::size_t{processes} * threads);
  EXPECT_EQ(to_text(check(history, {.wake_bound = 3s})), "");
}

}  // namespace
}  // namespace stress
