#include "io/network/socket_stream.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "io/network/error_text.hpp"

namespace holdfast::io {
namespace {

// A dead peer is detected after this long without an acknowledgement, also while connecting.
constexpr unsigned user_timeout_ms = 10'000;
constexpr int keepalive_after_s = 5, keepalive_every_s = 2, keepalive_times = 3;

void set_option(int fd, int level, int name, int value) noexcept {
  // Fails on a Unix socket, which has none of them.
  ::setsockopt(fd, level, name, &value, sizeof value);
}

void set_options(int fd) noexcept {
  set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, keepalive_after_s);
  set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, keepalive_every_s);
  set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, keepalive_times);
  set_option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, user_timeout_ms);
}

// Closes the connection at once; unsent bytes are dropped.
void reset(int fd) noexcept {
  const linger at_once{1, 0};
  ::setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  sockaddr nowhere{};
  nowhere.sa_family = AF_UNSPEC;
  // A raw call: TSan takes connect() for a new descriptor.
  ::syscall(SYS_connect, fd, &nowhere, sizeof nowhere);
  ::shutdown(fd, SHUT_RDWR);  // for a Unix socket
}

}  // namespace

// Leads the look-up thread to its stream while that exists.
struct socket_stream::pending_look_up {
  std::mutex mutex;
  socket_stream* wants = nullptr;
};

socket_stream::socket_stream(network& n, const base::address& a, base::stream_events& e)
    : network_(n), mark_(n.mark), events_(&e), address_(a), where_(text_of(a)) {}

void socket_stream::connect() {
  {
    const std::lock_guard l(network_.mutex);
    network_.connections.insert(this);
  }
  network_.post([self = shared_from_this()] { self->start(); });
}

void socket_stream::start() {
  if (closed_) return;
  endpoints_ = endpoints_of(address_);
  if (!endpoints_.empty()) return try_next();
  if (!address_.path.empty())
    return close({errc::bad_url, where_ + ": the path of a Unix socket has at most 107 bytes"});
  look_up_ = std::make_shared<pending_look_up>();
  look_up_->wants = this;
  begin();
  look_up(address_, [p = look_up_](found f) {
    const std::lock_guard l(p->mutex);
    if (!p->wants) return;
    p->wants->network_.post([p, c = p->wants->shared_from_this(), f = std::move(f)]() mutable {
      { const std::lock_guard left(p->mutex); }  // waits until the look-up thread has left
      if (c->closed_) return;
      c->look_up_ = nullptr;
      c->done();
      if (f.endpoints.empty()) return c->close(lookup_error(c->where_, f.trouble));
      c->endpoints_ = std::move(f.endpoints);
      c->try_next();
    });
  });
}

bool socket_stream::open_socket(const endpoint& to) {
  const int fd = ::socket(to.protocol().family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) {
    last_error_ = errno;
    return false;
  }
  place_ = &network_.descriptors.get();
  place_->put(fd);
  set_options(fd);
  socket_.emplace(network_.context);
  error failed;
  socket_->assign(to.protocol(), fd, failed);
  if (!failed) socket_->native_non_blocking(true, failed);
  if (!failed) return true;
  last_error_ = failed.value();
  if (!socket_->is_open()) ::close(fd);
  close_socket();
  return false;
}

void socket_stream::try_next() {
  if (next_ == endpoints_.size()) return close(connect_error(where_, last_error_));
  const endpoint& to = endpoints_[next_++];
  if (!open_socket(to)) return try_next();
  begin();
  socket_->async_connect(to, [self = shared_from_this()](const error& failed) {
    if (!self->done()) return;
    if (!failed) return self->opened();
    self->last_error_ = failed.value();
    self->close_socket();
    self->try_next();
  });
}

void socket_stream::opened() {
  endpoints_ = {};
  bool aborted;
  {
    const lock l(mutex_);
    fd_ = socket_->native_handle();
    aborted = aborted_;
  }
  if (aborted) return;  // closed by the job that abort() posted
  events_->on_open();
  if (!closed_) read();
}

void socket_stream::read() {
  socket_->async_read_some(boost::asio::buffer(buffer_.data(), buffer_.size()),
                           [self = shared_from_this()](const error& failed, std::size_t n) {
                             self->on_read(failed, n);
                           });
}

void socket_stream::on_read(const error& failed, std::size_t n) {
  if (closed_) return;
  network_.awake();
  if (failed) {
    peer_has_closed_ = failed == boost::asio::error::eof;
    return close(read_error(where_, peer_has_closed_ ? 0 : failed.value()));
  }
  events_->on_bytes(std::span(buffer_).first(n));
  if (!closed_) read();
}

// Returns how many bytes the kernel took. A failure is reported by the reader.
std::size_t socket_stream::send_now(std::span<const std::byte> bytes) noexcept {
  std::size_t sent = 0;
  while (sent < bytes.size()) {
    const auto left = bytes.subspan(sent);
    const ssize_t n = ::send(fd_, left.data(), left.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n >= 0) {
      sent += static_cast<std::size_t>(n);
    } else if (errno != EINTR) {
      return errno == EAGAIN || errno == EWOULDBLOCK ? sent : bytes.size();
    }
  }
  return sent;
}

void socket_stream::write(std::span<const std::byte> bytes) noexcept {
  const lock l(mutex_);
  if (fd_ < 0 || aborted_ || finishing_ || !is_of_this_process()) return;
  const bool waits = !rest_.empty();
  if (!waits) bytes = bytes.subspan(send_now(bytes));
  if (bytes.empty()) return;
  rest_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (!waits) network_.post([self = shared_from_this()] { self->await_room(); });
}

void socket_stream::await_room() {
  if (closed_) return;
  begin();
  socket_->async_wait(socket::wait_write, [self = shared_from_this()](const error&) {
    if (self->done()) self->send_rest();
  });
}

void socket_stream::send_rest() {
  {
    const lock l(mutex_);
    if (fd_ < 0 || aborted_) return;
    sent_ += send_now(std::as_bytes(std::span(rest_)).subspan(sent_));
    if (sent_ == rest_.size()) {
      rest_.clear();
      sent_ = 0;
      if (finishing_) ::shutdown(fd_, SHUT_WR);
      return;
    }
  }
  await_room();
}

void socket_stream::abort() noexcept {
  const lock l(mutex_);
  if (aborted_ || closed_ || !is_of_this_process()) return;
  aborted_ = true;
  rest_.clear();
  sent_ = 0;
  if (fd_ >= 0) reset(fd_);
  network_.post([self = shared_from_this()] {
    if (!self->closed_)
      self->close({errc::unavailable, self->where_ + ": the connection was given up"});
  });
}

void socket_stream::finish() noexcept {
  const lock l(mutex_);
  if (fd_ < 0 || aborted_ || finishing_ || !is_of_this_process()) return;
  finishing_ = true;
  if (rest_.empty()) ::shutdown(fd_, SHUT_WR);
}

// A Unix socket is its path; a link-local address keeps the name it was given, with its interface.
base::address socket_stream::peer() const {
  sockaddr_storage at{};
  socklen_t size = sizeof at;
  {
    const lock l(mutex_);
    if (fd_ < 0 || ::getpeername(fd_, reinterpret_cast<sockaddr*>(&at), &size) != 0) return {};
  }
  char text[INET6_ADDRSTRLEN] = {};
  if (at.ss_family == AF_INET) {
    const auto& four = reinterpret_cast<const sockaddr_in&>(at);
    if (!::inet_ntop(AF_INET, &four.sin_addr, text, sizeof text)) return {};
    return {text, ntohs(four.sin_port), {}};
  }
  if (at.ss_family != AF_INET6) return address_;
  const auto& six = reinterpret_cast<const sockaddr_in6&>(at);
  if (six.sin6_scope_id != 0) return address_;
  if (!::inet_ntop(AF_INET6, &six.sin6_addr, text, sizeof text)) return {};
  return {text, ntohs(six.sin6_port), {}};
}

void socket_stream::close_socket() noexcept {
  const lock l(mutex_);
  fd_ = -1;
  if (place_) std::exchange(place_, nullptr)->take();
  socket_.reset();
}

bool socket_stream::done() noexcept {
  network_.busy.fetch_sub(1);
  network_.awake();
  return !closed_;
}

void socket_stream::close(base::failure why) {
  base::stream_events* const user = std::exchange(events_, nullptr);
  const auto self = shared_from_this();
  shut_down(!peer_has_closed_);
  if (user) user->on_closed(std::move(why));
}

void socket_stream::shut_down(bool resets) noexcept {
  events_ = nullptr;
  if (closed_) return;
  if (look_up_) {
    {
      const std::lock_guard l(look_up_->mutex);
      look_up_->wants = nullptr;
    }
    look_up_ = nullptr;
    network_.busy.fetch_sub(1);
  }
  {
    const lock l(mutex_);
    if (resets && socket_ && socket_->is_open()) reset(socket_->native_handle());
    closed_ = true;
  }
  close_socket();
  const std::lock_guard l(network_.mutex);
  network_.connections.erase(this);
}

void socket_stream::drop(std::shared_ptr<socket_stream> c) noexcept {
  if (!c->closed_ && !c->is_of_this_process()) {
    // Leaked: the parent's threads may hold its locks.
    new std::shared_ptr<socket_stream>(std::move(c));
    return;
  }
  c->end();
}

}  // namespace holdfast::io
