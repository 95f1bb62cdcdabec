// Descriptors of client libraries, watched by a loop.
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <future>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "base/parker.hpp"
#include "io/real_environment.hpp"
#include "tests/unit/io/network/loop_fixture.hpp"

namespace holdfast::network_tests {
namespace {

using base::readiness;

std::set<int> open_descriptors() {
  std::set<int> out;
  for (int fd = 0; fd < 1024; ++fd)
    if (::fcntl(fd, F_GETFD) >= 0) out.insert(fd);
  return out;
}

struct pipe_of_two {
  pipe_of_two() { EXPECT_EQ(::pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0); }
  pipe_of_two(const pipe_of_two&) = delete;
  pipe_of_two& operator=(const pipe_of_two&) = delete;
  ~pipe_of_two() {
    close(0);
    close(1);
  }
  void write(char c) const { EXPECT_EQ(::write(ends[1], &c, 1), 1); }
  int read() const {  // -1: nothing is there
    char c = 0;
    return ::read(ends[0], &c, 1) == 1 ? c : -1;
  }
  void fill() const {
    const std::vector<char> much(1 << 20);
    while (::write(ends[1], much.data(), much.size()) > 0) {}
  }
  void drain() const {
    std::vector<char> room(1 << 20);
    while (::read(ends[0], room.data(), room.size()) > 0) {}
  }
  void close(int which) {
    if (ends[which] >= 0) ::close(std::exchange(ends[which], -1));
  }
  int ends[2] = {-1, -1};
};

// Counts its calls, after the hook. The hook runs on the thread that drives.
class observer final : public base::descriptor_events {
 public:
  void on_ready(readiness r) override {
    if (hook) hook(r);
    const std::lock_guard l(mutex_);
    ++calls_;
    changed_.notify_all();
  }
  bool sees(int calls) {
    std::unique_lock l(mutex_);
    return changed_.wait_until(l, std::chrono::system_clock::now() + generous,
                               [&] { return calls_ >= calls; });
  }
  int calls() {
    const std::lock_guard l(mutex_);
    return calls_;
  }
  std::function<void(readiness)> hook;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int calls_ = 0;
};

// Each case is run with both ways of driving.
class descriptor_watch : public testing::TestWithParam<base::driven_by> {
 protected:
  std::unique_ptr<base::event_loop> make() {
    user_.expecting = true;
    return io::real_environment().make_loop(user_, GetParam(), "test");
  }
  // Everything that was posted to the loop before has run: a second pipe was reported.
  void loop_has_turned() {
    pipe_of_two p;
    observer o;
    o.hook = [&](readiness) { (void)p.read(); };
    const auto w = loop_->watch(p.ends[0], readiness::readable, o);
    loop_->attend();
    p.write('x');
    EXPECT_TRUE(o.sees(1));
  }

  user user_;
  std::unique_ptr<base::event_loop> loop_ = make();
  pipe_of_two pipe_;
  observer observer_;
};

INSTANTIATE_TEST_SUITE_P(driven, descriptor_watch,
                         testing::Values(base::driven_by::callers, base::driven_by::thread),
                         [](const auto& p) {
                           return p.param == base::driven_by::callers ? "by_callers" : "by_thread";
                         });

TEST_P(descriptor_watch, reports_what_can_be_read_until_it_was_read) {
  std::string got;
  observer_.hook = [&](readiness r) {
    EXPECT_EQ(r, readiness::readable);
    got += static_cast<char>(pipe_.read());  // one byte a call
  };
  const auto w = loop_->watch(pipe_.ends[0], readiness::readable, observer_);
  loop_->attend();
  for (const char c : {'a', 'b', 'c'}) pipe_.write(c);
  EXPECT_TRUE(observer_.sees(3));
  loop_has_turned();
  EXPECT_EQ(got, "abc");
  EXPECT_EQ(observer_.calls(), 3);
}

TEST_P(descriptor_watch, reports_what_can_be_written_once_there_is_room) {
  pipe_.fill();
  std::unique_ptr<base::descriptor_watch> w;
  observer_.hook = [&](readiness r) {
    EXPECT_EQ(r, readiness::writable);
    w->set(readiness::none);
  };
  w = loop_->watch(pipe_.ends[1], readiness::none, observer_);
  w->set(readiness::writable);
  loop_->attend();
  loop_has_turned();
  EXPECT_EQ(observer_.calls(), 0);
  pipe_.drain();
  EXPECT_TRUE(observer_.sees(1));
  loop_has_turned();
  EXPECT_EQ(observer_.calls(), 1);
}

TEST_P(descriptor_watch, tells_apart_what_can_be_read_and_what_can_be_written) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends), 0);
  std::unique_ptr<base::descriptor_watch> w;
  std::vector<readiness> seen;
  observer_.hook = [&](readiness r) {
    seen.push_back(r);
    w->set(readiness::none);
  };
  w = loop_->watch(ends[0], readiness::none, observer_);
  w->set(readiness::both);
  loop_->attend();
  EXPECT_TRUE(observer_.sees(1));
  EXPECT_EQ(::write(ends[1], "x", 1), 1);
  w->set(readiness::both);
  EXPECT_TRUE(observer_.sees(2));
  loop_has_turned();
  EXPECT_EQ(seen, (std::vector{readiness::writable, readiness::both}));
  w.reset();
  for (const int fd : ends) ::close(fd);
}

TEST_P(descriptor_watch, reports_the_end_of_the_peer_and_is_still_while_it_watches_for_nothing) {
  const auto w = loop_->watch(pipe_.ends[0], readiness::none, observer_);
  pipe_.close(1);
  loop_has_turned();
  EXPECT_EQ(observer_.calls(), 0);
  observer_.hook = [&](readiness r) {
    EXPECT_EQ(r, readiness::readable);
    w->set(readiness::none);
  };
  w->set(readiness::readable);
  EXPECT_TRUE(observer_.sees(1));
}

TEST_P(descriptor_watch, reports_what_came_while_it_watched_for_nothing) {
  const auto w = loop_->watch(pipe_.ends[0], readiness::readable, observer_);
  for (int round = 1; round <= 3; ++round) {
    w->set(readiness::none);
    if (round < 3) pipe_.write('x');
    if (round == 3) pipe_.close(1);
    loop_has_turned();
    EXPECT_EQ(observer_.calls(), round - 1);
    observer_.hook = [&](readiness) {
      pipe_.drain();
      w->set(readiness::none);
    };
    w->set(readiness::readable);
    EXPECT_TRUE(observer_.sees(round));
  }
}

TEST_P(descriptor_watch, may_be_cancelled_and_destroyed_by_its_own_handler) {
  for (const bool destroys : {false, true}) {
    observer o;
    std::promise<void> kept;
    std::unique_ptr<base::descriptor_watch> w;
    o.hook = [&](readiness) {
      kept.get_future().wait();
      w->cancel();
      if (destroys) w.reset();
    };
    w = loop_->watch(pipe_.ends[0], readiness::readable, o);
    kept.set_value();
    pipe_.write('x');
    EXPECT_TRUE(o.sees(1));
    loop_has_turned();
    EXPECT_EQ(o.calls(), 1);
    pipe_.drain();
  }
}

TEST_P(descriptor_watch, calls_nobody_after_it_was_cancelled_from_outside) {
  auto w = loop_->watch(pipe_.ends[0], readiness::readable, observer_);
  w->cancel();
  w->cancel();
  w->set(readiness::readable);
  pipe_.write('x');
  loop_has_turned();
  w.reset();
  EXPECT_EQ(observer_.calls(), 0);
}

TEST_P(descriptor_watch, its_end_waits_for_a_handler_on_another_thread) {
  std::promise<void> entered, goes_on;
  std::atomic<bool> left = false;
  observer_.hook = [&](readiness) {
    entered.set_value();
    goes_on.get_future().wait();
    left = true;
  };
  auto w = loop_->watch(pipe_.ends[0], readiness::readable, observer_);
  loop_->attend();
  pipe_.write('x');
  entered.get_future().wait();
  w->cancel();  // waits for nobody
  std::thread releaser([&] { goes_on.set_value(); });
  w.reset();
  EXPECT_TRUE(left);
  releaser.join();
}

// As a library does that reconnects inside its own processing.
TEST_P(descriptor_watch, does_not_take_a_new_file_for_the_one_that_the_library_has_closed) {
  pipe_of_two next;
  int reused = -1;
  observer_.hook = [&](readiness) {
    const int number = pipe_.ends[0];
    pipe_.close(0);
    reused = ::fcntl(next.ends[0], F_DUPFD_CLOEXEC, number);
    EXPECT_EQ(reused, number);
  };
  auto w = loop_->watch(pipe_.ends[0], readiness::readable, observer_);
  observer stranger;
  stranger.hook = [&](readiness) { (void)next.read(); };
  loop_->attend();
  pipe_.write('x');
  EXPECT_TRUE(observer_.sees(1));
  auto of_next = loop_->watch(reused, readiness::readable, stranger);
  w->set(readiness::writable);
  w.reset();
  next.write('y');
  EXPECT_TRUE(stranger.sees(1));
  EXPECT_EQ(observer_.calls(), 1);
  pollfd writer{pipe_.ends[1], 0, 0};
  ::poll(&writer, 1, 0);
  EXPECT_TRUE(writer.revents & POLLERR) << "the library's descriptor was really closed";
  of_next.reset();
  ::close(reused);
}

// As a library does that finds its connection cut while another thread opens one. Nothing but time
// orders the threads here, so that ThreadSanitizer sees each use of the number.
TEST_P(descriptor_watch, is_dropped_without_a_use_of_the_number_that_the_library_has_closed) {
  auto w = loop_->watch(pipe_.ends[0], readiness::readable, observer_);
  const int number = pipe_.ends[0];
  std::atomic<bool> is_closed = false;
  std::atomic<bool> is_reused = false;
  std::vector<int> opened;
  std::thread other([&] {
    while (!is_closed.load(std::memory_order_relaxed)) std::this_thread::yield();
    do opened.push_back(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    while (opened.back() >= 0 && opened.back() != number);
    is_reused.store(true, std::memory_order_relaxed);
  });
  pipe_.close(0);
  is_closed.store(true, std::memory_order_relaxed);
  while (!is_reused.load(std::memory_order_relaxed)) std::this_thread::yield();
  w.reset();
  other.join();
  EXPECT_EQ(opened.back(), number);
  EXPECT_EQ(observer_.calls(), 0);
  for (const int fd : opened) ::close(fd);
}

TEST_P(descriptor_watch, may_outlive_the_loop) {
  auto w = loop_->watch(pipe_.ends[0], readiness::readable, observer_);
  loop_.reset();
  pipe_.write('x');
  w->set(readiness::writable);
  w->cancel();
  w.reset();
  EXPECT_EQ(observer_.calls(), 0);
}

TEST_P(descriptor_watch, of_what_is_no_open_descriptor_throws) {
  const int closed = pipe_.ends[0];
  pipe_.close(0);
  EXPECT_THROW(loop_->watch(closed, readiness::readable, observer_), std::system_error);
}

TEST_P(descriptor_watch, ends_in_a_forked_child_without_a_word_to_the_parent) {
  observer_.hook = [&](readiness) { (void)pipe_.read(); };
  auto w = loop_->watch(pipe_.ends[0], readiness::readable, observer_);
  loop_has_turned();  // so that the child finds no mutex locked
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);                  // ends the child if it hangs
    w->set(readiness::writable);  // parent and child share what the kernel watches
    loop_->forked();
    w->set(readiness::none);
    w.reset();
    ::_exit(0);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  loop_->attend();
  pipe_.write('x');
  EXPECT_TRUE(observer_.sees(1));
}

TEST_P(descriptor_watch, keeps_no_descriptor_of_its_own_in_a_forked_child) {
  const std::set<int> before = open_descriptors();
  const auto w = loop_->watch(pipe_.ends[0], readiness::readable, observer_);
  std::set<int> added = open_descriptors();
  for (const int fd : before) added.erase(fd);
  ASSERT_FALSE(added.empty());
  const pid_t child = ::fork();
  if (child == 0) {
    loop_->forked();
    const auto is_open = [](int fd) { return ::fcntl(fd, F_GETFD) >= 0; };
    ::_exit(static_cast<int>(std::ranges::count_if(added, is_open)));
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(descriptor_watch_of_callers, is_handled_while_a_caller_awaits_its_reply) {
  user u;
  u.expecting = true;
  const auto loop = io::real_environment().make_loop(u, base::driven_by::callers, "test");
  pipe_of_two p;
  base::parker parker;
  observer o;
  o.hook = [&](readiness) {
    (void)p.read();
    parker.signal();
  };
  const auto w = loop->watch(p.ends[0], readiness::readable, o);
  std::thread peer([&] { p.write('x'); });
  loop->driver()->run_until_signalled(parker);
  EXPECT_TRUE(parker.signalled());
  peer.join();
}

// For the thread sanitizer: two pipes are written by two threads, while a third changes what is
// watched for, cancels and watches again.
TEST_P(descriptor_watch, is_changed_by_one_thread_while_others_write) {
  constexpr int bytes = 300;
  pipe_of_two other;
  std::atomic<int> read_here = 0, read_there = 0;
  observer there;
  observer_.hook = [&](readiness) {
    while (pipe_.read() >= 0) ++read_here;
  };
  there.hook = [&](readiness) {
    while (other.read() >= 0) ++read_there;
  };
  const auto kept = loop_->watch(pipe_.ends[0], readiness::readable, observer_);
  auto renewed = loop_->watch(other.ends[0], readiness::readable, there);
  loop_->attend();
  const auto writes = [](const pipe_of_two& p) {
    for (int i = 0; i < bytes; ++i) p.write('x');
  };
  std::thread one([&] { writes(pipe_); }), two([&] { writes(other); });
  for (int i = 0; i < 50; ++i) {
    kept->set(i % 2 == 0 ? readiness::none : readiness::readable);
    renewed.reset();
    renewed = loop_->watch(other.ends[0], readiness::readable, there);
  }
  one.join();
  two.join();
  for (int calls = 1; read_here < bytes; ++calls) ASSERT_TRUE(observer_.sees(calls));
  for (int calls = 1; read_there < bytes; ++calls) ASSERT_TRUE(there.sees(calls));
}

}  // namespace
}  // namespace holdfast::network_tests
