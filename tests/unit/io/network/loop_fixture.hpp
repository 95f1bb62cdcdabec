// A listener to connect to, and one who hears what a stream tells.
#pragma once
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "base/network.hpp"

namespace holdfast::network_tests {

inline constexpr std::chrono::seconds generous{30};

// Listens on a free port of 127.0.0.1, or on a Unix socket.
class listener {
 public:
  explicit listener(const std::string& path = {}) {
    sockaddr_un local{};
    sockaddr_in net{};
    local.sun_family = AF_UNIX;
    path.copy(local.sun_path, sizeof local.sun_path - 1);
    net.sin_family = AF_INET;
    net.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    fd_ = ::socket(path.empty() ? AF_INET : AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int bound = path.empty() ? ::bind(fd_, reinterpret_cast<sockaddr*>(&net), sizeof net)
                                   : ::bind(fd_, reinterpret_cast<sockaddr*>(&local), sizeof local);
    if (bound != 0 || ::listen(fd_, 16) != 0) ADD_FAILURE() << "cannot listen";
    socklen_t size = sizeof net;
    if (path.empty()) ::getsockname(fd_, reinterpret_cast<sockaddr*>(&net), &size);
    at.host = "127.0.0.1";
    at.port = path.empty() ? ntohs(net.sin_port) : 0;
    at.path = path;
  }
  listener(const listener&) = delete;
  listener& operator=(const listener&) = delete;
  ~listener() {
    close();
    if (queued_ >= 0) ::close(queued_);
  }
  void close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }
  // The queue is full from here on: the kernel neither accepts nor refuses a connection.
  void fill() {
    sockaddr_in net{};
    socklen_t size = sizeof net;
    ::getsockname(fd_, reinterpret_cast<sockaddr*>(&net), &size);
    queued_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (::listen(fd_, 0) != 0 || ::connect(queued_, reinterpret_cast<sockaddr*>(&net), size) != 0)
      ADD_FAILURE() << "cannot fill the queue";
  }
  int accept() {
    pollfd p{fd_, POLLIN, 0};
    if (::poll(&p, 1, 30'000) != 1) return -1;
    return ::accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC);
  }

  base::address at;

 private:
  int fd_ = -1, queued_ = -1;
};

// The other end of a stream, blocking.
class peer {
 public:
  explicit peer(int fd) : fd_(fd) { EXPECT_GE(fd, 0); }
  peer(const peer&) = delete;
  peer& operator=(const peer&) = delete;
  ~peer() { close(); }
  void close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }
  void send(const std::string& s) {
    EXPECT_EQ(::send(fd_, s.data(), s.size(), MSG_NOSIGNAL), ssize_t(s.size()));
  }
  // So many bytes; fewer when the stream ends before.
  std::string receive(std::size_t n) {
    std::string got(n, '\0');
    std::size_t have = 0;
    while (have < n) {
      const ssize_t k = ::recv(fd_, got.data() + have, n - have, 0);
      if (k < 0) last_error = errno;
      if (k <= 0) break;
      have += std::size_t(k);
    }
    got.resize(have);
    return got;
  }
  int fd() const { return fd_; }
  int last_error = 0;

 private:
  int fd_;
};

inline std::span<const std::byte> bytes(const std::string& s) {
  return std::as_bytes(std::span(s.data(), s.size()));
}

// Hears a stream. The hooks come last, on the thread that drives.
class ear final : public base::stream_events {
 public:
  void on_open() override {
    set([&] { is_open = true; });
    if (when_open) when_open();
  }
  void on_bytes(std::span<const std::byte> b) override {
    const std::string got(reinterpret_cast<const char*>(b.data()), b.size());
    set([&] { text += got; });
    if (when_bytes) when_bytes(got);
  }
  void on_closed(base::failure f) override {
    set([&] {
      why = std::move(f);
      is_closed = true;
    });
    if (when_closed) when_closed();
  }
  template <class Condition>
  bool wait(Condition c) {
    std::unique_lock l(mutex_);
    return changed_.wait_until(l, std::chrono::system_clock::now() + generous, c);
  }
  bool opens() {
    bool opened = false;
    return wait([&] { return (opened = is_open) || is_closed; }) && opened;
  }
  bool closes() {
    return wait([&] { return is_closed; });
  }
  bool hears(const std::string& s) {
    return wait([&] { return text.size() >= s.size(); }) && text == s;
  }

  std::function<void()> when_open, when_closed;
  std::function<void(const std::string&)> when_bytes;
  std::string text;
  base::failure why;
  bool is_open = false, is_closed = false;

 private:
  template <class Change>
  void set(Change change) {
    const std::lock_guard l(mutex_);
    change();
    changed_.notify_all();
  }
  std::mutex mutex_;
  std::condition_variable changed_;
};

// A user that awaits a reply while the test says so.
class user final : public base::loop_user {
 public:
  void flush() noexcept override {
    if (when_flushed) when_flushed();
    flushes.fetch_add(1);
    flushes.notify_all();
  }
  bool has_pending_replies() const noexcept override { return expecting.load(); }
  std::atomic<bool> expecting{false};
  std::atomic<int> flushes{0};
  std::function<void()> when_flushed;
};

}  // namespace holdfast::network_tests
