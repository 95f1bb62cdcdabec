// A connection of a client, and what reads it.
#pragma once
#include <memory>
#include <string_view>
#include <utility>

#include "base/event_queue.hpp"
#include "base/network.hpp"

namespace holdfast::io {

// All calls with the reactor's mutex held.
class stream_user {
 public:
  virtual void on_open(base::time_point now, base::event_queue&) = 0;
  virtual void on_bytes(std::span<const std::byte>, base::time_point now, base::event_queue&) = 0;
  virtual void on_closed(base::failure, base::time_point now, base::event_queue&) = 0;  // the last

 protected:
  ~stream_user() = default;
};

// From client_reactor::connect() until it has reported that it is closed. The reactor keeps it
// alive until then, and its user while it writes.
class attached_stream {
 public:
  attached_stream(stream_user& u, std::unique_ptr<base::stream> over) noexcept
      : user_(&u), stream_(std::move(over)) {}

  // With the mutex: resets the connection. No event of it reaches its user any more.
  void leave() noexcept {
    user_ = nullptr;
    stream_->abort();
  }
  // Without the mutex, one thread at a time, once it is open.
  void write(std::string_view bytes) noexcept { stream_->write(std::as_bytes(std::span(bytes))); }
  base::address peer() const { return stream_->peer(); }  // neither host nor path: not known

 protected:
  stream_user* user_;  // null: it has left
  std::unique_ptr<base::stream> stream_;
};

}  // namespace holdfast::io
