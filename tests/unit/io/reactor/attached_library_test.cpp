// A client library with sockets of its own, under a reactor.
#include "io/reactor/attached_library.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <future>

#include "io/real_environment.hpp"
#include "tests/unit/io/reactor/played_network.hpp"

namespace holdfast::io::reactor_tests {
namespace {

using base::readiness;

// As a transport over such a library: statements are submitted with the mutex held, and each is
// carried out in one call.
class fake_library final : public library_user {
 public:
  fake_library(client_reactor& r, played_network& n, driven_by by = driven_by::callers)
      : reactor(r),
        net(n),
        claim(n, r.mutex()),
        over(std::make_unique<attached_library>(r, *this, by)) {}
  ~fake_library() {
    const std::lock_guard guard(reactor.mutex());
    over.reset();
  }

  void submit(std::string_view statement) {
    const std::lock_guard guard(reactor.mutex());
    next += statement;
    over->request();
  }
  bool decide(readiness ready, time_point) override {
    EXPECT_FALSE(is_free(reactor.mutex()));
    now_running = std::exchange(next, {});
    if (has(ready, readiness::readable)) now_running += "+readable";
    if (has(ready, readiness::writable)) now_running += "+writable";
    return !now_running.empty();
  }
  void perform() noexcept override {
    EXPECT_TRUE(is_free(reactor.mutex()));
    EXPECT_FALSE(is_performing.exchange(true)) << "one thread at a time";
    while_performing();
    is_performing = false;
  }
  void report(time_point, event_queue& events) override {
    EXPECT_FALSE(is_free(reactor.mutex()));
    net.write_down(now_running);
    if (posts) events.post(claim, base::claim_event::granted);
    if (ends) over.reset();
  }

  client_reactor& reactor;
  played_network& net;
  dispatched claim;
  std::unique_ptr<attached_library> over;
  std::string next, now_running;
  bool posts = false, ends = false;
  std::atomic<bool> is_performing = false;
  std::function<void()> while_performing = [] {};
};

class io_attached_library : public testing::Test {
 protected:
  std::string said() { return net.take_log(); }

  played_network net;
  client_reactor reactor{net, names, "test:"};
  fake_library library{reactor, net};
};

TEST_F(io_attached_library, is_not_attached_to_a_loop_that_watches_no_descriptors) {
  net.watches_descriptors = false;
  EXPECT_FALSE(library.over->watch(7));
  net.watches_descriptors = true;
  EXPECT_TRUE(library.over->watch(7));
}

TEST_F(io_attached_library, is_called_by_the_next_flush_without_the_mutex) {
  library.posts = true;
  library.submit("select");
  EXPECT_EQ(said(), "");
  net.callers->flush();
  EXPECT_EQ(said(), "select dispatched ");
  net.callers->flush();
  EXPECT_EQ(said(), "") << "nothing is due";
}

TEST_F(io_attached_library, several_requests_before_a_flush_are_one_call) {
  library.submit("a");
  library.submit("b");
  net.callers->flush();
  EXPECT_EQ(said(), "ab ");
}

TEST_F(io_attached_library, is_not_called_when_there_is_nothing_to_do) {
  library.submit("");
  library.while_performing = [] { ADD_FAILURE(); };
  net.callers->flush();
  EXPECT_EQ(said(), "");
}

TEST_F(io_attached_library, what_is_submitted_meanwhile_is_performed_by_the_same_thread) {
  library.while_performing = [&, first = true]() mutable {
    if (!std::exchange(first, false)) return;
    library.submit("second");
    net.callers->flush();  // as another thread would
    EXPECT_EQ(said(), "");
  };
  library.submit("first");
  net.callers->flush();
  EXPECT_EQ(said(), "first second ");
}

TEST_F(io_attached_library, events_are_dispatched_when_nothing_more_is_due) {
  library.posts = true;
  library.while_performing = [&, first = true]() mutable {
    if (std::exchange(first, false)) library.submit("second");
  };
  library.submit("first");
  net.callers->flush();
  EXPECT_EQ(said(), "first second dispatched ");
}

TEST_F(io_attached_library, two_libraries_are_called_at_the_same_time) {
  fake_library other(reactor, net);
  std::promise<void> entered, may_end;
  library.while_performing = [&] {
    entered.set_value();
    may_end.get_future().wait();
  };
  library.submit("slow");
  std::thread slow([&] { net.callers->flush(); });
  entered.get_future().wait();
  other.submit("fast");
  net.callers->flush();
  EXPECT_EQ(said(), "fast ");
  may_end.set_value();
  slow.join();
  EXPECT_EQ(said(), "slow ");
}

TEST_F(io_attached_library, belongs_to_one_loop) {
  {
    const std::lock_guard guard(reactor.mutex());
    struct silent final : stream_user {
      void on_open(time_point, event_queue&) override {}
      void on_bytes(std::span<const std::byte>, time_point, event_queue&) override {}
      void on_closed(failure, time_point, event_queue&) override {}
    };
    static silent nobody;
    failure why;
    reactor.connect(nobody, {"host"}, nullptr, driven_by::thread, why);  // there is a loop now
  }
  said();
  fake_library heartbeat(reactor, net, driven_by::thread);
  heartbeat.submit("ping");
  library.submit("select");
  net.callers->flush();
  EXPECT_EQ(said(), "select ");
  net.own->flush();
  EXPECT_EQ(said(), "ping ");
}

TEST_F(io_attached_library, awaits_nothing_while_it_is_called) {
  library.while_performing = [&, calls = 0]() mutable {
    const bool watches = calls++ > 0 || library.over->watch(7);
    EXPECT_TRUE(watches);
    EXPECT_EQ(net.awaited, readiness::none);
    library.over->await(readiness::readable);
  };
  library.submit("connect");
  net.callers->flush();
  EXPECT_EQ(net.awaited, readiness::readable);
  net.watched->on_ready(readiness::both);
  EXPECT_EQ(said(), "connect +readable+writable ");
  library.while_performing = [&] { library.over->unwatch(); };
  library.submit("close");
  net.callers->flush();
  EXPECT_EQ(net.watched, nullptr);
}

TEST_F(io_attached_library, a_readiness_that_comes_while_it_is_called_is_not_lost) {
  library.while_performing = [&, first = true]() mutable {
    if (!std::exchange(first, false)) return;
    library.over->watch(7);
    library.over->await(readiness::readable);
    net.watched->on_ready(readiness::readable);  // as the driving thread would
  };
  library.submit("connect");
  net.callers->flush();
  EXPECT_EQ(said(), "connect +readable ");
  library.while_performing = [&] { library.over->unwatch(); };
  library.submit("close");
  net.callers->flush();
}

TEST_F(io_attached_library, may_end_with_its_report) {
  library.ends = true;
  library.posts = true;
  library.submit("close");
  net.callers->flush();
  EXPECT_EQ(said(), "close dispatched ");
  net.callers->flush();
  EXPECT_EQ(said(), "");
}

TEST_F(io_attached_library, is_forgotten_when_it_ends_before_it_was_called) {
  {
    fake_library other(reactor, net);
    other.submit("never");
  }
  net.callers->flush();
  EXPECT_EQ(said(), "");
}

TEST_F(io_attached_library, is_not_called_in_the_child_of_a_fork) {
  library.submit("select");
  reactor.forked();
  said();
  net.callers->flush();
  EXPECT_EQ(said(), "");
}

TEST_F(io_attached_library, reports_nothing_once_the_reactor_was_stopped) {
  library.while_performing = [&] { reactor.stop(); };
  library.submit("select");
  base::loop_user& kept = *net.callers;
  kept.flush();
  EXPECT_EQ(said(), "loop-ends ");
}

// A library of one socket: writes what is submitted and reads the echo.
class echoing_library final : public library_user {
 public:
  explicit echoing_library(client_reactor& r) : reactor_(r), over_(r, *this, driven_by::callers) {
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
  }
  ~echoing_library() {
    for (const int fd : ends) ::close(fd);
  }
  std::string call(char c) {
    base::parker answered;
    {
      const std::lock_guard guard(reactor_.mutex());
      to_write_ = c;
      answered_ = &answered;
      over_.request();
      reactor_.count(1, 0);
    }
    reactor_.request_flush(true);
    reactor_.driver()->run_until_signalled(answered);
    const std::lock_guard guard(reactor_.mutex());
    reactor_.count(-1, 0);
    return std::exchange(echo_, {});
  }

  int ends[2] = {-1, -1};

 private:
  // It may have become readable, or seem to be, when there is something to write.
  bool decide(readiness ready, time_point) override {
    reads_ = ready != readiness::none;
    writes_ = std::exchange(to_write_, '\0');
    return reads_ || writes_ != 0;
  }
  void perform() noexcept override {
    char c = 0;
    if (reads_ && ::read(ends[0], &c, 1) == 1) echo_ = c;
    if (writes_ != 0) {
      EXPECT_EQ(::write(ends[0], &writes_, 1), 1);
      watches_ = watches_ || over_.watch(ends[0]);
      EXPECT_TRUE(watches_);
    }
    over_.await(readiness::readable);
  }
  void report(time_point, event_queue&) override {
    if (!echo_.empty() && answered_) std::exchange(answered_, nullptr)->signal();
  }

  client_reactor& reactor_;
  attached_library over_;
  base::parker* answered_ = nullptr;
  char to_write_ = 0, writes_ = 0;
  bool reads_ = false, watches_ = false;
  std::string echo_;
};

TEST(io_attached_library_for_real, is_driven_by_the_caller_that_waits_for_it) {
  client_reactor reactor(io::real_environment(), names, "test:");
  echoing_library library(reactor);
  std::jthread server([&] {
    for (char c = 0; c != 'z';) {
      pollfd readable{library.ends[1], POLLIN, 0};
      ::poll(&readable, 1, -1);
      if (::read(library.ends[1], &c, 1) != 1) continue;
      EXPECT_EQ(::write(library.ends[1], &c, 1), 1);
    }
  });
  for (const char c : {'a', 'b', 'z'}) EXPECT_EQ(library.call(c), std::string(1, c));
  reactor.stop();
}

}  // namespace
}  // namespace holdfast::io::reactor_tests
