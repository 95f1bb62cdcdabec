// What a backend that talks to a server takes from the outside: connections, and a loop that tells
// their events. src/io/ has the real one, tests/sim one in virtual time.
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "base/caller_driver.hpp"
#include "base/environment.hpp"
#include "base/failure.hpp"

namespace holdfast::core {

struct address {
  std::string host;  // a name, an IPv4 or an IPv6 address without brackets
  int port = 0;
  std::string path;  // of a Unix socket; then host and port mean nothing
};

struct tls_terms {   // the peer's certificate and its name are verified, always; TLS 1.2 or newer
  std::string host;  // whom the certificate must name
  std::string ca_file;           // PEM; empty: the system's
  std::string certificate_file;  // PEM, of this client; empty: none
  std::string key_file;          // PEM, its private key; empty: in certificate_file
};

// Told by whoever drives the loop, never two at a time for one loop, with no lock of the loop held.
// A stream may be destroyed from inside an event of its own.
class stream_events {
 public:
  virtual void on_open() = 0;  // connected and, with TLS, the peer verified
  virtual void on_bytes(std::span<const std::byte>) = 0;
  // The last event: not reached, not trusted (errc::refused), reset, ended by the peer, aborted.
  virtual void on_closed(failure) = 0;

 protected:
  ~stream_events() = default;
};

class stream {
 public:
  // Aborts. On the loop's driving thread, after on_closed, or after the loop; no event follows.
  virtual ~stream() = default;
  // From any thread, one at a time, once it is open. Takes all of it and never blocks; what the
  // kernel does not take at once is sent by whoever drives. Does nothing on a closed one.
  virtual void write(std::span<const std::byte>) noexcept = 0;
  // From any thread: resets the connection (SO_LINGER 0: what was not sent never is). on_closed
  // follows, from the loop.
  virtual void abort() noexcept = 0;
  // From any thread: no more is written (SHUT_WR); on_closed follows when the peer has closed too.
  virtual void finish() noexcept = 0;
};

class loop_user {
 public:
  // Writes what was collected. Called from any thread, before the loop sleeps; may do nothing when
  // another thread is just doing it.
  virtual void flush() noexcept = 0;
  // An answer or a push is awaited, so that a caller who blocks does well to drive. Any thread.
  virtual bool has_pending_replies() const noexcept = 0;

 protected:
  ~loop_user() = default;
};

enum class driven_by {
  callers,  // "whoever waits, drives": lend(); a thread of its own steps in when nobody waits
  thread,   // by a thread of its own, always
};

class event_loop {
 public:
  virtual ~event_loop() = default;  // ends its thread and its connections; no event follows
  // Never blocks; on_open or on_closed follows. With null `tls`: in plain text.
  virtual std::unique_ptr<stream> connect(const address&, const tls_terms* tls, stream_events&) = 0;
  // From any thread: something was collected for flush(). At once, or within 200 us.
  virtual void request_flush(bool at_once) noexcept = 0;
  // From any thread: an answer or a push is awaited although nobody blocks for it (a handler of an
  // asynchronous caller, a holder who is to hear that others wait): the loop must be driven.
  virtual void attend() noexcept = 0;
  virtual caller_driver* driver() noexcept = 0;  // null: callers just block
  virtual void forked() noexcept = 0;  // in a fork's child: closes descriptors, says nothing
};

}  // namespace holdfast::core
