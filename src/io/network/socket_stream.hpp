// One socket: connected, read, written, closed.
#pragma once
#include <array>
#include <boost/asio/generic/stream_protocol.hpp>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "base/network.hpp"
#include "base/short_lock.hpp"
#include "io/network/lookup.hpp"
#include "io/network/network.hpp"

namespace holdfast::io {

// Kept alive by its stream and by its pending operations. The thread that writes sends the bytes;
// the driving thread sends what the kernel does not take at once.
class socket_stream final : public std::enable_shared_from_this<socket_stream> {
 public:
  socket_stream(network&, const base::address&, base::stream_events&);
  void connect();  // call it first; events follow from now on

  // As in base::stream.
  void write(std::span<const std::byte>) noexcept;
  void abort() noexcept;
  void finish() noexcept;
  base::address peer() const;
  // The stream is gone: closes, and calls no event.
  static void drop(std::shared_ptr<socket_stream>) noexcept;
  void end() noexcept { shut_down(true); }  // the same, when the loop is destroyed

 private:
  using socket = boost::asio::generic::stream_protocol::socket;
  using error = boost::system::error_code;
  using lock = std::lock_guard<base::short_lock>;

  struct pending_look_up;

  void start();
  void try_next();
  bool open_socket(const endpoint&);
  void opened();
  void read();
  void on_read(const error&, std::size_t);
  void send_rest();
  void await_room();
  std::size_t send_now(std::span<const std::byte>) noexcept;
  void close(base::failure);
  void shut_down(bool resets) noexcept;
  void close_socket() noexcept;

  // The loop is busy from begin() to done(). done() returns false when the stream was closed
  // meanwhile.
  void begin() noexcept { network_.busy.fetch_add(1); }
  bool done() noexcept;
  bool is_of_this_process() const noexcept { return mark_ == fork_mark(); }

  network& network_;  // valid until it is closed, and in handlers
  const std::uint32_t mark_;
  base::stream_events* events_;
  const base::address address_;
  const std::string where_;
  std::shared_ptr<pending_look_up> look_up_;
  std::vector<endpoint> endpoints_;
  std::size_t next_ = 0;
  int last_error_ = 0;
  std::optional<socket> socket_;
  base::descriptor_list::place* place_ = nullptr;
  std::array<std::byte, 65536> buffer_;

  bool peer_has_closed_ = false;
  bool closed_ = false;  // written by the driving thread, with the lock held

  mutable base::short_lock mutex_;  // guards the fields below, and closing the socket
  int fd_ = -1;                     // -1: not open
  std::string rest_;                // not yet taken by the kernel, from sent_
  std::size_t sent_ = 0;
  bool aborted_ = false;
  bool finishing_ = false;
};

// A stream whose connection lives until its last operation has ended.
template <class Connection>
class shared_stream final : public base::stream {
 public:
  explicit shared_stream(std::shared_ptr<Connection> c) : connection_(std::move(c)) {}
  ~shared_stream() override { Connection::drop(std::move(connection_)); }
  void write(std::span<const std::byte> b) noexcept override { connection_->write(b); }
  void abort() noexcept override { connection_->abort(); }
  void finish() noexcept override { connection_->finish(); }
  base::address peer() const override { return connection_->peer(); }

 private:
  std::shared_ptr<Connection> connection_;
};

}  // namespace holdfast::io
