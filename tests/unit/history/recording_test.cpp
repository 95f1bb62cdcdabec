#include "history/recording.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <random>
#include <thread>

#include "tests/unit/history/recording_fixture.hpp"

namespace holdfast::history {
namespace {

using kind = recorded_event::kind;

TEST(recording, is_read_back_as_it_was_written) {
  recording_in_memory r(412, "redis://db?prefix=a");
  r.add(kind::granted, 20, "nightly",
        {.since = 10, .deadline = 90, .token = 1024, .details = recorded_event::pack({}, 2, 0, 3)},
        5);
  const auto all = r.read();
  EXPECT_EQ(all.pid, 412);
  EXPECT_EQ(all.store, "redis://db?prefix=a");
  ASSERT_EQ(all.events.size(), 1u);
  const client_event& e = all.events.front();
  EXPECT_EQ(all.locks.at(e.lock), (recorded_lock{"nightly", 5, 0}));
  EXPECT_EQ(e.what(), kind::granted);
  EXPECT_EQ(e.time, 20);
  EXPECT_EQ(e.since, 10);
  EXPECT_EQ(e.deadline, 90);
  EXPECT_EQ(e.token, 1024);
  EXPECT_EQ(e.mode(), 2u);
  EXPECT_EQ(e.permits(), 3u);
  EXPECT_EQ(all.torn, 0u);
}

TEST(recording, keeps_the_last_events) {
  recording_in_memory r;
  for (int i = 1; i <= 100; ++i) r.grant(i, i);
  const auto all = r.read();
  ASSERT_EQ(all.events.size(), recording_in_memory::size);
  EXPECT_EQ(all.overwritten, 100 - recording_in_memory::size);
  EXPECT_EQ(all.events.front().token, 100 - recording_in_memory::size + 1);
  EXPECT_EQ(all.events.back().token, 100);
}

TEST(recording, leaves_out_an_event_whose_writer_was_killed_between_two_stores) {
  recording_in_memory r;
  for (std::uint32_t i = 1; i <= recording_in_memory::size; ++i) r.grant(i, i);
  const recorded_event older = r.event(4);
  r.grant(100, 100);
  for (int word = 0; word < 8; ++word) {  // the next event, up to that word
    recorded_event torn = older;
    reinterpret_cast<std::uint64_t*>(&torn)[word] ^= 1u << word;
    r.event(4) = torn;
    const auto all = r.read();
    EXPECT_EQ(all.torn, 1u) << word;
    EXPECT_EQ(all.events.size(), recording_in_memory::size - 1u);
  }
}

TEST(recording, leaves_out_an_event_that_was_counted_and_not_yet_written) {
  recording_in_memory r;
  r.grant(1, 1);
  ++r.header().appended;
  const auto all = r.read();
  EXPECT_EQ(all.events.size(), 1u);
  EXPECT_EQ(all.torn, 1u);
}

TEST(recording, leaves_out_what_happened_after_the_moment_of_reading) {
  recording_in_memory r;
  r.grant(10, 1);
  r.grant(21, 2);
  EXPECT_EQ(r.read(20).events.size(), 1u);
}

TEST(recording, shows_coarse_times_by_the_clock_of_the_others) {
  recording_in_memory r;
  r.header().clock = recorded_clock::coarse;
  r.add(kind::granted, 5, "x", {.since = 3});
  std::string why;
  const std::string_view text(reinterpret_cast<const char*>(r.bytes().data()), r.bytes().size());
  const auto all = parse_recording(text, {.boottime = 107, .monotonic = 7, .wall = 0}, why);
  EXPECT_EQ(all.events.at(0).time, 105);
  EXPECT_EQ(all.events.at(0).since, 103);
}

TEST(recording, stores_a_name_again_before_newer_ones_overwrite_it) {
  recording_in_memory r;
  const std::string other(500, 'y');
  std::uint64_t position = r.position_of(0, "mine", {});
  for (int i = 0; i < 1000; ++i) {
    r.position_of(0, other, {});
    position = r.position_of(position, "mine", {});
    if (i % 50 == 0) {
      recorded_event e;
      e.name = position;
      e.details = recorded_event::pack(kind::granted, 0, 0, 0);
      r.append(e);
      const auto all = r.read();
      EXPECT_EQ(all.locks.at(all.events.back().lock).name, "mine") << i;
    }
  }
}

TEST(recording, says_that_the_name_of_an_old_event_was_overwritten) {
  recording_in_memory r;
  r.add(kind::granted, 1, "old");
  for (int i = 0; i < 400; ++i) r.position_of(0, std::string(500, 'y'), {});
  EXPECT_EQ(r.read().events.at(0).lock, client_event::unknown_lock);
}

struct listening_client final : base::fork_listener {  // as a client is
  listening_client() { listen(); }
  ~listening_client() { stop_listening(); }
  void forked() noexcept override {}
};

TEST(recording, has_nothing_of_a_forks_child) {
  const listening_client client;
  recording_in_memory r;
  r.grant(1, 1);
  const pid_t child = ::fork();
  if (child == 0) {
    r.grant(2, 2);
    r.position_of(0, "of the child", {});
    ::_exit(r.header().appended == 1 && r.header().names_end < 64 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(recording, takes_events_of_several_threads) {
  recording_in_memory r;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&r] {
      for (int i = 0; i < 1000; ++i) r.grant(i, i);
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(r.header().appended, 4000u);
  EXPECT_EQ(r.read().events.size() + r.read().torn, recording_in_memory::size);
}

TEST(recording, names_the_fault_of_a_file_that_it_cannot_read) {
  recording_in_memory r;
  r.grant(1, 1);
  const auto fault = [&](std::span<const std::byte> bytes) {
    std::string why;
    recording_in_memory::read(bytes, why);
    return why;
  };
  EXPECT_EQ(fault(r.bytes()), "");
  EXPECT_EQ(fault(r.bytes().first(0)), "it is not a recording");
  EXPECT_EQ(fault(r.bytes().first(r.bytes().size() - 1)), "it is cut short");
  r.header().events = 0;
  EXPECT_EQ(fault(r.bytes()), "its header is damaged");
  r.header().version = 7;
  EXPECT_EQ(fault(r.bytes()),
            "it has version 7, and this program reads version 1; use the holdfast of the program's "
            "version");
  r.header().magic[0] = 'x';
  EXPECT_EQ(fault(r.bytes()), "it is not a recording");
}

TEST(recording, with_random_bytes_in_it_is_read_without_a_fault_of_the_reader) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 300; ++round) {
    recording_in_memory r;
    for (int i = 1; i <= 80; ++i) r.grant(i, i);
    const std::size_t from = round % 3 == 0 ? 0 : round % 3 == 1 ? 4096 : 4096 + 128 * 1024;
    const std::size_t length = round % 3 == 0 ? 300 : 2000;
    for (int i = 0; i < 20; ++i)
      r.bytes()[from + random() % length] = static_cast<std::byte>(random());
    std::string why;
    const auto all = recording_in_memory::read(r.bytes(), why);
    if (why.empty()) {
      for (const client_event& e : all.events)
        EXPECT_TRUE(e.lock == client_event::unknown_lock || e.lock < all.locks.size());
    }
  }
}

TEST(the_time_of_an_event, is_that_of_the_exact_clock_unless_the_recording_is_coarse) {
  using namespace std::chrono_literals;
  struct two_clocks final : base::environment {
    base::time_point now() noexcept override { return base::time_point(7s); }
    base::time_point coarse_now() noexcept override { return base::time_point(6s); }
    std::chrono::microseconds wall() noexcept override { return {}; }
    void random(std::span<std::byte>) noexcept override {}
    std::unique_ptr<base::alarm> make_alarm(base::alarm_target&, const char*) override {
      return nullptr;
    }
    std::unique_ptr<base::worker> make_worker(const char*) override { return nullptr; }
  } env;
  const recording_in_memory exact;
  EXPECT_EQ(exact.time_of(env, {}), base::time_point(7s));
  EXPECT_EQ(exact.time_of(env, base::time_point(5s)), base::time_point(5s)) << "read before";
}

}  // namespace
}  // namespace holdfast::history
