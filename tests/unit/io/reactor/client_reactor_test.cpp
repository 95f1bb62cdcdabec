#include "io/reactor/client_reactor.hpp"

#include <functional>
#include <thread>

#include "tests/unit/io/reactor/played_network.hpp"

namespace holdfast::io::reactor_tests {
namespace {

// Writes down what it is told. One connection at a time.
class fake_user final : public reactor_user, public stream_user {
 public:
  fake_user(client_reactor& r, played_network& n) : reactor(r), net(n), claim(n, r.mutex()) {
    const std::lock_guard guard(reactor.mutex());
    reactor.add(*this);
  }
  ~fake_user() {
    const std::lock_guard guard(reactor.mutex());
    reactor.remove(*this);
  }

  bool connect(driven_by by = driven_by::callers) {
    const std::lock_guard guard(reactor.mutex());
    return begin(by);
  }
  bool begin(driven_by by) {
    over = reactor.connect(*this, {"host"}, nullptr, by, why);
    return over != nullptr;
  }
  void leave() {
    const std::lock_guard guard(reactor.mutex());
    std::exchange(over, nullptr)->leave();
  }
  void wake_by(time_point t) {
    const std::lock_guard guard(reactor.mutex());
    EXPECT_TRUE(reactor.wake_by(t));
  }
  std::string said() { return net.take_log(); }

  // reactor_user, stream_user
  void flush(std::unique_lock<std::mutex>& lock, driven_by by) noexcept override {
    EXPECT_TRUE(lock.owns_lock());
    const std::string what = by == driven_by::callers ? "for-callers" : "for-own-loop";
    net.write_down(what);
    if (!over) return;
    lock.unlock();
    over->write(what);
    lock.lock();
  }
  void on_alarm(time_point now, event_queue& events) override {
    note("alarm", now, events);
    if (next_alarm != base::never) reactor.wake_by(std::exchange(next_alarm, base::never));
  }
  bool has_unattended_replies() const noexcept override { return is_unattended; }
  void on_open(time_point now, event_queue& events) override { note("open", now, events); }
  void on_bytes(std::span<const std::byte> bytes, time_point now, event_queue& events) override {
    note({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, now, events);
  }
  void on_closed(failure f, time_point now, event_queue& events) override {
    over.reset();
    note("closed:" + f.text, now, events);
    if (reconnects) begin(driven_by::callers);
  }

  client_reactor& reactor;
  played_network& net;
  dispatched claim;
  std::shared_ptr<attached_stream> over;
  failure why;
  time_point next_alarm = base::never;
  bool is_unattended = false, posts = false, logs = false, reconnects = false;

 private:
  void note(std::string_view what, time_point now, event_queue& events) {
    EXPECT_FALSE(is_free(reactor.mutex())) << what;
    EXPECT_EQ(now, net.now());
    net.write_down(what);
    if (posts) events.post(claim, base::claim_event::granted);
    if (logs) reactor.log().add(log_level::warning, "line");
  }
};

class fake_wait final : public blocking_wait {
 public:
  using blocking_wait::blocking_wait;
  std::optional<failure> outcome(bool is_overdue) override {
    if (is_overdue) return failure{errc::unavailable, "too late"};
    return ended;
  }
  std::optional<failure> ended;
};

class io_client_reactor : public testing::Test {
 protected:
  void begin(blocking_wait& w) {
    const std::lock_guard guard(reactor.mutex());
    reactor.begin(w);
  }
  void bytes(std::size_t n, std::string_view text) {
    net.streams.at(n)->events->on_bytes(std::as_bytes(std::span(text)));
  }
  void close(std::size_t n) { net.streams.at(n)->events->on_closed({errc::unavailable, "reset"}); }

  played_network net;
  client_reactor reactor{net, names, "test:"};
  fake_user user{reactor, net};
};

TEST_F(io_client_reactor, events_of_a_stream_are_read_with_the_mutex_and_dispatched_without_it) {
  ASSERT_TRUE(user.connect());
  EXPECT_EQ(user.said(), "attend ");
  user.posts = true;
  net.streams[0]->events->on_open();
  bytes(0, "abc");
  close(0);
  EXPECT_EQ(user.said(), "open dispatched abc dispatched closed:reset dispatched ");
  EXPECT_TRUE(net.streams[0]->is_gone);
}

TEST_F(io_client_reactor, a_stream_that_was_left_reports_nothing_more) {
  user.connect();
  user.leave();
  EXPECT_TRUE(net.streams[0]->is_aborted);
  EXPECT_FALSE(net.streams[0]->is_gone) << "its loop may be inside one of its events";
  user.connect();
  user.said();
  net.streams[0]->events->on_open();
  bytes(0, "late");
  close(0);
  EXPECT_EQ(user.said(), "");
  EXPECT_TRUE(net.streams[0]->is_gone);
  bytes(1, "new");
  EXPECT_EQ(user.said(), "new ");
}

TEST_F(io_client_reactor, connects_again_from_inside_the_end_of_a_stream) {
  user.connect();
  user.reconnects = true;
  close(0);
  ASSERT_EQ(net.streams.size(), 2u);
  bytes(1, "again");
  EXPECT_EQ(user.said(), "attend closed:reset attend again ");
}

TEST_F(io_client_reactor, lines_of_the_log_are_written_without_the_mutex) {
  struct hooked {
    client_reactor& reactor;
    int lines = 0;
  } hook{reactor};
  const auto write = [](log_level, std::string_view line, void* context) {
    auto& h = *static_cast<hooked*>(context);
    EXPECT_TRUE(is_free(h.reactor.mutex()));
    EXPECT_EQ(line, "line");
    ++h.lines;
  };
  reactor.log().write_to({write, &hook});
  user.connect();
  user.logs = true;
  bytes(0, "x");
  user.wake_by(net.now() + 1s);
  net.time.advance(1s);
  EXPECT_EQ(hook.lines, 2);
}

TEST_F(io_client_reactor, each_loop_writes_for_its_own_connections) {
  user.connect();
  EXPECT_EQ(net.own, nullptr);
  net.callers->flush();
  EXPECT_EQ(net.streams[0]->written, "for-callers");
  user.connect(driven_by::thread);
  ASSERT_NE(net.own, nullptr);
  EXPECT_EQ(net.streams[1]->over, driven_by::thread);
  net.own->flush();
  EXPECT_EQ(net.streams[1]->written, "for-own-loop");
  user.said();
  reactor.request_flush_of_own_loop(true);
  EXPECT_EQ(user.said(), "own-flush ");
  user.connect(driven_by::thread);
  EXPECT_EQ(user.said(), "attend ") << "one loop of that kind is enough";
}

TEST_F(io_client_reactor, a_loop_that_does_not_exist_yet_has_nothing_to_write) {
  reactor.request_flush_of_own_loop(true);
  EXPECT_EQ(user.said(), "");
}

TEST_F(io_client_reactor, says_why_no_loop_can_be_made) {
  net.has_threads = false;
  EXPECT_FALSE(user.connect(driven_by::thread));
  EXPECT_EQ(user.why.code, errc::unavailable);
  EXPECT_NE(user.why.text.find("ulimit"), std::string::npos) << user.why.text;
  EXPECT_EQ(net.streams.size(), 0u);
  failure of_a_library;
  {
    const std::lock_guard guard(reactor.mutex());
    EXPECT_FALSE(reactor.start(driven_by::thread, of_a_library));
  }
  EXPECT_EQ(of_a_library.text, user.why.text);
  net.has_threads = true;
  EXPECT_TRUE(user.connect(driven_by::thread));
}

TEST_F(io_client_reactor, only_an_earlier_time_sets_the_alarm_again) {
  const time_point start = net.now();
  user.wake_by(start + 5s);
  EXPECT_EQ(net.time.next_alarm(), start + 5s);
  user.wake_by(start + 7s);
  EXPECT_EQ(net.time.next_alarm(), start + 5s);
  user.wake_by(start + 2s);
  EXPECT_EQ(net.time.next_alarm(), start + 2s);
  user.next_alarm = start + 6s;
  net.time.advance(2s);
  EXPECT_EQ(user.said(), "alarm flush ");
  EXPECT_EQ(net.time.next_alarm(), start + 6s) << "what it rang for was over";
  net.time.advance(3s);
  EXPECT_EQ(user.said(), "");
  net.time.advance(1s);
  EXPECT_EQ(user.said(), "alarm flush ");
  EXPECT_EQ(net.time.next_alarm(), base::never);
}

TEST_F(io_client_reactor, what_the_alarm_has_collected_is_written_before_events_are_dispatched) {
  user.posts = true;
  user.wake_by(net.now());
  net.time.advance(0s);
  EXPECT_EQ(user.said(), "alarm flush dispatched ");
}

TEST_F(io_client_reactor, tries_again_when_the_alarm_could_not_be_set) {
  net.time.have_threads(false);
  {
    const std::lock_guard guard(reactor.mutex());
    EXPECT_FALSE(reactor.wake_by(net.now() + 1s));
  }
  net.time.have_threads(true);
  user.wake_by(net.now() + 2s);
  EXPECT_EQ(net.time.next_alarm(), net.now() + 2s);
}

TEST_F(io_client_reactor, is_driven_in_the_background_while_a_reply_is_unattended) {
  user.connect();
  user.said();
  EXPECT_FALSE(net.callers->has_pending_replies());
  user.is_unattended = true;
  bytes(0, "1");
  bytes(0, "2");
  EXPECT_EQ(user.said(), "1 attend 2 ");
  EXPECT_TRUE(net.callers->has_pending_replies());
  user.is_unattended = false;
  bytes(0, "3");
  EXPECT_FALSE(net.callers->has_pending_replies());
}

TEST_F(io_client_reactor, has_pending_replies_while_callers_wait_or_listen) {
  const auto count = [&](int waiting, int listening) {
    reactor.count(waiting, listening);
    return net.callers->has_pending_replies();
  };
  EXPECT_TRUE(count(1, 0));
  EXPECT_TRUE(count(-1, 1));
  EXPECT_FALSE(count(0, -1));
}

TEST_F(io_client_reactor, a_wait_ends_after_the_event_that_it_waits_for) {
  user.connect();
  fake_wait w(base::never);
  begin(w);
  net.while_blocked = [&] {
    EXPECT_TRUE(net.callers->has_pending_replies());
    bytes(0, "not this one");
    w.ended = failure{errc::refused, "no"};
    bytes(0, "this one");
    w.ended = failure{errc::refused, "too late to count"};
    bytes(0, "and one more");
  };
  reactor.wait(w);
  EXPECT_EQ(w.why().text, "no");
  EXPECT_FALSE(net.callers->has_pending_replies());
}

TEST_F(io_client_reactor, a_wait_ends_when_its_time_is_over) {
  fake_wait w(net.now() + 3s);
  begin(w);
  net.while_blocked = [&] {
    user.next_alarm = base::never;
    user.wake_by(net.now() + 1s);  // the alarm rings, and is set again for the wait
    net.time.advance(3s);
  };
  reactor.wait(w);
  EXPECT_EQ(w.why().text, "too late");
}

// An event between the two may end it: one that asks how many wait must find the same number.
TEST_F(io_client_reactor, a_wait_is_counted_from_its_beginning) {
  fake_wait w(base::never), next(base::never);
  begin(w);
  EXPECT_EQ(reactor.waiting(), 1);
  reactor.abandon(w);
  EXPECT_EQ(reactor.waiting(), 0);
  begin(next);
  reactor.abandon(w);
  EXPECT_EQ(reactor.waiting(), 1);
  net.while_blocked = [&] {
    EXPECT_EQ(reactor.waiting(), 1);
    next.ended = failure();
    user.connect();
    bytes(0, "x");
  };
  reactor.wait(next);
  EXPECT_EQ(reactor.waiting(), 0);
}

TEST_F(io_client_reactor, a_wait_can_be_stopped) {
  fake_wait w(base::never);
  begin(w);
  std::stop_source stop;
  net.while_blocked = [&] { stop.request_stop(); };
  reactor.wait(w, stop.get_token());
  EXPECT_EQ(w.why().code, errc::canceled);
}

TEST_F(io_client_reactor, a_wait_without_a_thread_for_its_end_does_not_begin) {
  net.time.have_threads(false);
  fake_wait w(net.now() + 1s);
  begin(w);
  reactor.wait(w);
  EXPECT_EQ(w.why().code, errc::unavailable);
  EXPECT_NE(w.why().text.find("ulimit -u"), std::string::npos);
}

TEST_F(io_client_reactor, a_wait_that_was_abandoned_is_not_asked) {
  user.connect();
  fake_wait w(base::never);
  begin(w);
  w.ended = failure();
  reactor.abandon(w);
  bytes(0, "x");
  fake_wait next(base::never);
  begin(next);
  reactor.abandon(w);
  net.while_blocked = [&] {
    next.ended = failure();
    bytes(0, "x");
  };
  reactor.wait(next);
  EXPECT_FALSE(next.why().code);
}

TEST_F(io_client_reactor, a_child_of_a_fork_writes_nothing_and_hears_nothing) {
  user.connect();
  user.connect(driven_by::thread);
  user.wake_by(net.now());
  user.said();
  reactor.forked();
  EXPECT_EQ(user.said(), "forked forked ");
  EXPECT_TRUE(reactor.is_forked());
  net.callers->flush();
  net.own->flush();
  net.time.advance(1s);
  EXPECT_EQ(user.said(), "");
}

TEST_F(io_client_reactor, a_child_of_a_fork_does_not_lock) {
  std::unique_lock held(reactor.mutex());  // as another thread may have at that moment
  reactor.forked();
  net.callers->flush();
  EXPECT_TRUE(reactor.is_forked());
}

TEST_F(io_client_reactor, stops_the_loops_before_the_streams) {
  user.connect();
  user.connect(driven_by::thread);
  user.over.reset();
  user.said();
  reactor.stop();
  EXPECT_EQ(user.said(), "own-loop-ends loop-ends ");
  EXPECT_TRUE(net.streams[0]->is_gone);
  EXPECT_TRUE(net.streams[1]->is_gone);
}

TEST_F(io_client_reactor, stops_without_a_connection_and_twice) {
  reactor.stop();
  EXPECT_EQ(user.said(), "loop-ends ");
  reactor.stop();
  EXPECT_EQ(user.said(), "");
}

TEST_F(io_client_reactor, connects_and_wakes_no_more_once_it_was_stopped) {
  user.wake_by(net.now() + 1s);
  reactor.stop();
  EXPECT_FALSE(user.connect());
  EXPECT_EQ(user.why.code, errc::closed);
  {
    failure why;
    const std::lock_guard guard(reactor.mutex());
    EXPECT_FALSE(reactor.start(driven_by::callers, why));
    EXPECT_EQ(why.code, errc::closed);
  }
  user.wake_by(net.now());
  reactor.request_flush_of_own_loop(true);
  net.time.advance(2s);
  EXPECT_EQ(user.said(), "loop-ends ");
  bool has_run = false;
  reactor.run([&](time_point, event_queue&) { has_run = true; });
  EXPECT_FALSE(has_run);
}

// The ends of a loop are the last chance for events, as from another thread.
TEST_F(io_client_reactor, events_while_it_stops_reach_no_user) {
  user.connect();
  user.posts = true;
  user.said();
  bool was_called = false;
  user.wake_by(net.now());
  net.on_loop_end = [&] {
    was_called = true;
    bytes(0, "late");
    close(0);
    net.time.advance(1s);
  };
  reactor.stop();
  EXPECT_TRUE(was_called);
  EXPECT_EQ(user.said(), "loop-ends ");
}

TEST_F(io_client_reactor, ends_with_an_open_stream_that_nobody_left) {
  auto other = std::make_unique<client_reactor>(net, names, "test:");
  auto of_other = std::make_unique<fake_user>(*other, net);
  of_other->connect();
  other->stop();
  of_other.reset();
  other.reset();
  EXPECT_TRUE(net.streams[0]->is_gone);
}

TEST(io_client_reactor_made, needs_a_network) {
  testkit::manual_environment env;
  try {
    const client_reactor reactor(env, names, "test:");
    FAIL();
  } catch (const lock_error& e) {
    EXPECT_EQ(e.code(), errc::unsupported);
    EXPECT_EQ(e.backend(), "test:");
  }
}

}  // namespace
}  // namespace holdfast::io::reactor_tests
