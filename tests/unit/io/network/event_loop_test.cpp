#include <netinet/tcp.h>
#include <sys/wait.h>

#include <filesystem>
#include <fstream>
#include <future>
#include <vector>

#include "base/parker.hpp"
#include "io/real_environment.hpp"
#include "testkit/no_descriptors.hpp"
#include "tests/unit/io/network/loop_fixture.hpp"

namespace holdfast::network_tests {
namespace {

using namespace std::chrono_literals;

// Each case is run with both ways of driving.
class network_loop : public testing::TestWithParam<base::driven_by> {
 protected:
  std::unique_ptr<base::event_loop> make() {
    return io::real_environment().make_loop(user_, GetParam(), "test");
  }
  // Lets the stream be opened; the other end of it.
  peer connected_to(listener& l) {
    user_.expecting = true;
    stream_ = loop_->connect(l.at, nullptr, ear_);
    const int other = l.accept();
    EXPECT_TRUE(ear_.opens());
    return peer(other);
  }
  // Which never answers.
  const base::address& nobody() {
    full_.fill();
    return full_.at;
  }

  user user_;
  listener full_;
  std::array<ear, 5> ears_;
  ear& ear_ = ears_[4];
  std::unique_ptr<base::stream> stream_;  // goes after the loop
  std::unique_ptr<base::event_loop> loop_ = make();
};

TEST_P(network_loop, opens_writes_reads_and_sees_the_end) {
  listener l;
  peer p = connected_to(l);
  loop_->attend();
  stream_->write(bytes("hello"));
  EXPECT_EQ(p.receive(5), "hello");
  p.send("world");
  EXPECT_TRUE(ear_.hears("world"));
  p.close();
  ASSERT_TRUE(ear_.closes());
  EXPECT_EQ(ear_.why.code, errc::unavailable);
  EXPECT_NE(ear_.why.text.find("127.0.0.1:" + std::to_string(l.at.port)), std::string::npos);
  stream_->write(bytes("into the void"));
}

// The socket of this process that is connected to the listener; -1: there is none.
int socket_to(const listener& l) {
  for (int fd = 0; fd < 1024; ++fd) {
    sockaddr_in to{};
    socklen_t size = sizeof to;
    const bool is_it = ::getpeername(fd, reinterpret_cast<sockaddr*>(&to), &size) == 0 &&
                       to.sin_family == AF_INET && ntohs(to.sin_port) == l.at.port;
    if (is_it) return fd;
  }
  return -1;
}

TEST_P(network_loop, notices_within_ten_seconds_that_its_peer_acknowledges_nothing) {
  listener l;
  const peer p = connected_to(l);
  const int fd = socket_to(l);
  unsigned longest_ms = 0;
  socklen_t size = sizeof longest_ms;
  ASSERT_EQ(::getsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &longest_ms, &size), 0);
  EXPECT_EQ(longest_ms, 10'000u);
}

TEST_P(network_loop, speaks_through_a_unix_socket) {
  const std::string path =
      (std::filesystem::temp_directory_path() / ("hf-loop-" + std::to_string(getpid()))).string();
  listener l(path);
  peer p = connected_to(l);
  stream_->write(bytes("hello"));
  EXPECT_EQ(p.receive(5), "hello");
  std::filesystem::remove(path);
}

TEST_P(network_loop, shows_the_numeric_address_of_its_peer) {
  listener l;
  l.at.host = "localhost";
  {
    const peer p = connected_to(l);
    EXPECT_EQ(text_of(stream_->peer()), "127.0.0.1:" + std::to_string(l.at.port));
  }
  ASSERT_TRUE(ear_.closes());
  EXPECT_EQ(text_of(stream_->peer()), text_of(base::address())) << "it is closed";
}

TEST_P(network_loop, shows_the_path_of_its_peer) {
  const std::string path =
      (std::filesystem::temp_directory_path() / ("hf-peer-" + std::to_string(getpid()))).string();
  listener l(path);
  const peer p = connected_to(l);
  EXPECT_EQ(stream_->peer().path, path);
  std::filesystem::remove(path);
}

TEST_P(network_loop, shows_the_numeric_address_of_its_peer_by_ipv6) {
  sockaddr_in6 at{};
  socklen_t size = sizeof at;
  at.sin6_family = AF_INET6;
  at.sin6_addr = in6addr_loopback;
  const int fd = ::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const peer listening(fd);
  if (::bind(fd, reinterpret_cast<sockaddr*>(&at), size) != 0 || ::listen(fd, 1) != 0)
    GTEST_SKIP() << "there is no IPv6";
  ::getsockname(fd, reinterpret_cast<sockaddr*>(&at), &size);
  base::address to;
  to.host = "0:0:0:0:0:0:0:1";
  to.port = ntohs(at.sin6_port);
  user_.expecting = true;
  stream_ = loop_->connect(to, nullptr, ear_);
  ASSERT_TRUE(ear_.opens());
  EXPECT_EQ(text_of(stream_->peer()), "[::1]:" + std::to_string(to.port));
}

TEST_P(network_loop, is_not_made_where_no_descriptor_is_left) {
  if (testkit::sanitizer_needs_descriptors) GTEST_SKIP() << "UBSan needs a descriptor";
  const testkit::no_descriptors none;
  EXPECT_THROW((void)make(), std::system_error);
}

TEST_P(network_loop, reports_that_no_descriptor_is_left_for_a_connection) {
  if (testkit::sanitizer_needs_descriptors) GTEST_SKIP() << "UBSan needs a descriptor";
  const std::string path =
      (std::filesystem::temp_directory_path() / ("hf-none-" + std::to_string(getpid()))).string();
  const listener l(path);
  user_.expecting = true;
  {
    const testkit::no_descriptors none;
    stream_ = loop_->connect(l.at, nullptr, ear_);
    EXPECT_TRUE(ear_.closes());
  }
  EXPECT_EQ(ear_.why.text.find(path + ": no descriptor is left"), 0u) << ear_.why.text;
  std::filesystem::remove(path);
}

TEST_P(network_loop, finds_the_addresses_of_a_name) {
  listener l;
  l.at.host = "localhost";
  const peer p = connected_to(l);
}

TEST_P(network_loop, names_what_is_wrong_with_an_address) {
  base::address closed, unknown, no_socket, long_path;
  {
    listener l;
    closed = l.at;
  }
  unknown.host = "no.such.host.invalid";
  unknown.port = 1;
  no_socket.path = "/nowhere/socket";
  long_path.path = std::string(200, 'x');
  const std::pair<base::address, const char*> cases[] = {{closed, "nothing listens there"},
                                                         {unknown, "the name is not found"},
                                                         {no_socket, "there is no such socket"},
                                                         {long_path, "at most 107 bytes"}};
  std::size_t n = 0;
  for (const auto& [address, text] : cases) {
    ear& e = ears_[n++];
    const auto stream = loop_->connect(address, nullptr, e);
    ASSERT_TRUE(e.closes()) << text;
    EXPECT_FALSE(e.is_open);
    EXPECT_NE(e.why.text.find(text), std::string::npos) << e.why.text;
  }
}

TEST_P(network_loop, what_the_kernel_does_not_take_at_once_is_sent_in_order) {
  listener l;
  peer p = connected_to(l);
  std::string all;
  for (int i = 0; i < 200; ++i) {
    const std::string piece(100'000 + i, static_cast<char>('a' + i % 26));
    stream_->write(bytes(piece));
    all += piece;
  }
  stream_->finish();
  stream_->write(bytes("after the end"));
  EXPECT_EQ(p.receive(all.size() + 1), all);
  p.close();
  EXPECT_TRUE(ear_.closes());
}

TEST_P(network_loop, one_write_that_the_kernel_does_not_take_at_once_is_sent_whole) {
  listener l;
  peer p = connected_to(l);
  const timeval limit{.tv_sec = generous.count(), .tv_usec = 0};
  ::setsockopt(p.fd(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  const std::string much(20'000'000, 'x');
  stream_->write(bytes(much));
  EXPECT_EQ(p.receive(much.size()).size(), much.size());
}

TEST_P(network_loop, an_abort_resets_and_sends_no_rest) {
  listener l;
  peer p = connected_to(l);
  const std::string much(50'000'000, 'x');
  stream_->write(bytes(much));
  stream_->abort();
  stream_->abort();
  stream_->write(bytes("after"));
  ASSERT_TRUE(ear_.closes());
  EXPECT_LT(p.receive(much.size()).size(), much.size());
  EXPECT_EQ(p.last_error, ECONNRESET);
}

TEST_P(network_loop, an_abort_resets_the_connection_before_the_loop_runs_again) {
  std::promise<int> other_end;
  std::promise<short> ended;
  ear_.when_bytes = [&](const std::string&) {
    pollfd end{other_end.get_future().get(), POLLIN, 0};
    stream_->abort();
    ended.set_value(::poll(&end, 1, 10'000) == 1 ? end.revents : short{});
  };
  listener l;
  peer p = connected_to(l);
  other_end.set_value(p.fd());
  p.send("x");
  EXPECT_TRUE(ended.get_future().get() & POLLERR) << "an orderly end is none";
  ASSERT_TRUE(ear_.closes());
}

TEST_P(network_loop, is_ended_in_order_when_its_peer_has_ended) {
  listener l;
  peer p = connected_to(l);
  ::shutdown(p.fd(), SHUT_WR);
  ASSERT_TRUE(ear_.closes());
  EXPECT_EQ(p.receive(1), "");
  EXPECT_EQ(p.last_error, 0) << "it was reset";
}

TEST_P(network_loop, an_abort_while_dialling_ends_it) {
  stream_ = loop_->connect(nobody(), nullptr, ear_);
  stream_->abort();
  ASSERT_TRUE(ear_.closes());
  EXPECT_FALSE(ear_.is_open);
}

TEST_P(network_loop, a_stream_may_be_destroyed_by_its_own_events) {
  user_.expecting = true;
  for (std::size_t which = 0; which < 3; ++which) {
    listener l;
    ear& e = ears_[which];
    std::unique_ptr<base::stream> stream;
    std::promise<void> kept, done;
    const auto destroy = [&] {
      kept.get_future().wait();
      stream.reset();
      done.set_value();
    };
    if (which == 0) e.when_open = destroy;
    if (which == 1) e.when_bytes = [&](const std::string&) { destroy(); };
    if (which == 2) e.when_closed = destroy;
    stream = loop_->connect(l.at, nullptr, e);
    kept.set_value();
    peer p(l.accept());
    if (which > 0) p.send("x");
    if (which > 1) p.close();
    EXPECT_EQ(done.get_future().wait_for(generous), std::future_status::ready);
    if (which == 2) continue;
    EXPECT_EQ(p.receive(1), "");
    EXPECT_FALSE(e.is_closed) << "no event follows";
  }
}

TEST_P(network_loop, after_its_end_no_event_follows_and_streams_are_dead) {
  listener l;
  peer p = connected_to(l);
  ear dialling;
  const auto other = loop_->connect(nobody(), nullptr, dialling);
  loop_.reset();
  EXPECT_EQ(p.receive(1), "");
  stream_->write(bytes("x"));
  stream_->abort();
  stream_.reset();
  EXPECT_FALSE(ear_.is_closed);
  EXPECT_FALSE(dialling.is_closed);
}

TEST_P(network_loop, what_is_collected_is_flushed_soon) {
  for (const bool at_once : {true, false, false, true}) {
    const int before = user_.flushes;
    loop_->request_flush(at_once);
    user_.flushes.wait(before);
  }
}

// How often the thread of that name has gone to sleep.
long sleeps_of_thread(const std::string& name) {
  long all = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string of, word;
    std::getline(std::ifstream(task.path() / "comm"), of);
    std::ifstream status(task.path() / "status");
    while (of == name && status >> word)
      if (word == "voluntary_ctxt_switches:") status >> all;
  }
  return all;
}

TEST_P(network_loop, what_is_collected_while_its_thread_is_asleep_is_flushed_soon) {
  const auto is_asleep = [] {
    const long before = sleeps_of_thread("test");
    std::this_thread::sleep_for(50ms);  // the longest nap is shorter
    return sleeps_of_thread("test") == before;
  };
  while (!is_asleep()) {}
  const int before = user_.flushes;
  loop_->request_flush(false);
  const auto end = std::chrono::steady_clock::now() + generous;
  while (user_.flushes == before && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(1ms);
  EXPECT_NE(user_.flushes, before);
}

TEST_P(network_loop, a_child_of_a_fork_closes_and_sends_nothing) {
  listener l;
  peer p = connected_to(l);
  const pid_t child = fork();
  if (child == 0) {
    ::alarm(20);  // ends the child if it hangs
    for (const bool is_noticed : {false, true}) {
      if (is_noticed) loop_->forked();
      stream_->write(bytes("from the child"));
      stream_->finish();
      stream_->abort();
    }
    stream_.reset();
    loop_->request_flush(true);
    loop_->attend();
    loop_.reset();
    _exit(0);
  }
  int status = 1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  stream_->write(bytes("parent"));
  EXPECT_EQ(p.receive(6), "parent");
  p.send("still there");
  EXPECT_TRUE(ear_.hears("still there"));
}

INSTANTIATE_TEST_SUITE_P(driven, network_loop,
                         testing::Values(base::driven_by::callers, base::driven_by::thread),
                         [](const auto& i) {
                           return i.param == base::driven_by::callers ? "by_callers" : "by_thread";
                         });

// Many callers, each with a question at a time on one shared stream: all are answered, whoever
// drives.
TEST(network_callers, that_wait_drive_and_all_are_answered) {
  listener l;
  user u;
  const auto loop = io::real_environment().make_loop(u, base::driven_by::callers, "test");
  ear e;
  std::mutex mutex;
  std::string out;
  std::vector<base::parker*> asking;
  std::unique_ptr<base::stream> stream;
  u.when_flushed = [&] {
    const std::lock_guard lock(mutex);
    if (!out.empty()) stream->write(bytes(std::exchange(out, {})));
  };
  std::size_t answered = 0;
  e.when_bytes = [&](const std::string& s) {
    std::vector<base::parker*> told;
    {
      const std::lock_guard lock(mutex);
      for (std::size_t i = 0; i < s.size(); ++i) told.push_back(asking[answered++]);
      if (answered == asking.size()) u.expecting = false;
    }
    for (base::parker* p : told) p->signal();
  };
  u.expecting = true;
  stream = loop->connect(l.at, nullptr, e);
  std::thread echo([&] {
    peer p(l.accept());
    for (std::string s; !(s = p.receive(1)).empty();) p.send(s);
  });
  ASSERT_TRUE(e.opens());
  constexpr int threads = 8, rounds = 500;
  std::vector<std::thread> callers;
  for (int t = 0; t < threads; ++t)
    callers.emplace_back([&] {
      for (int i = 0; i < rounds; ++i) {
        base::parker p;
        {
          const std::lock_guard lock(mutex);
          out += 'x';
          asking.push_back(&p);
          u.expecting = true;
        }
        loop->driver()->run_until_signalled(p);
      }
    });
  for (auto& t : callers) t.join();
  EXPECT_EQ(answered, std::size_t{threads * rounds});
  stream->abort();
  ASSERT_TRUE(e.closes());
  echo.join();
}

}  // namespace
}  // namespace holdfast::network_tests
