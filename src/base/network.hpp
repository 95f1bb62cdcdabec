// The network as backends see it: connections, and a loop that delivers their events. src/io/ has
// the real one, tests/sim one in virtual time.
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "base/caller_driver.hpp"
#include "base/environment.hpp"
#include "base/failure.hpp"

namespace holdfast::base {

struct address {
  std::string host;  // a name, an IPv4 or an IPv6 address without brackets
  int port = 0;
  std::string path;  // of a Unix socket; then host and port mean nothing
};

std::string text_of(const address&);  // "host:port", "[::1]:port", or the path

struct tls_terms {      // the peer's certificate and name are always verified; TLS 1.2 or newer
  std::string host;     // the name the certificate must have
  std::string ca_file;  // PEM; empty: the system's
  std::string certificate_file;  // PEM, of this client; empty: none
  std::string key_file;          // PEM, its private key; empty: in certificate_file
};

// Called by the thread that drives the loop, one call at a time per loop, with no lock of the loop
// held. A stream may be destroyed from inside one of its own events.
class stream_events {
 public:
  virtual void on_open() = 0;  // connected and, with TLS, the peer verified
  virtual void on_bytes(std::span<const std::byte>) = 0;
  // The last event. Reasons: not reached, not trusted (errc::refused), a file of the tls_terms
  // that is of no use (errc::bad_option), reset, closed by the peer, aborted.
  virtual void on_closed(failure) = 0;

 protected:
  ~stream_events() = default;
};

class stream {
 public:
  // Aborts. Call it on the loop's driving thread, after on_closed, or after the loop is gone; no
  // event follows.
  virtual ~stream() = default;
  // From any thread, one at a time, once the stream is open. Takes all bytes and never blocks; the
  // driving thread sends what the kernel does not take at once. Does nothing on a closed stream.
  virtual void write(std::span<const std::byte>) noexcept = 0;
  // From any thread: resets the connection (SO_LINGER 0: unsent bytes are dropped). on_closed
  // follows, from the loop.
  virtual void abort() noexcept = 0;
  // The numeric address of the other end of an open stream. Neither host nor path: not known.
  virtual address peer() const { return {}; }
  // From any thread: no more is written (SHUT_WR); on_closed follows when the peer has closed too.
  virtual void finish() noexcept = 0;
};

enum class readiness : unsigned char { none = 0, readable = 1, writable = 2, both = 3 };

constexpr readiness operator|(readiness a, readiness b) noexcept {
  return static_cast<readiness>(static_cast<unsigned char>(a) | static_cast<unsigned char>(b));
}
constexpr bool has(readiness all, readiness one) noexcept {
  return (static_cast<unsigned char>(all) & static_cast<unsigned char>(one)) != 0;
}

// Called as stream_events are.
class descriptor_events {
 public:
  // The descriptor is ready for that, and will be reported again as long as it is. An error and the
  // end of the peer count as all that is watched for.
  virtual void on_ready(readiness) = 0;

 protected:
  ~descriptor_events() = default;
};

// A descriptor that a client library owns, watched by the loop. The library may close it at any
// time, also inside on_ready(): no file that gets its number later is taken for it.
class descriptor_watch {
 public:
  // From any thread: cancels. A call of on_ready() on another thread is waited for, so hold no lock
  // that it takes. May be called inside on_ready(), and after the loop is gone.
  virtual ~descriptor_watch() = default;
  // From any thread: what is watched for from now on; none: nothing.
  virtual void set(readiness) noexcept = 0;
  // From any thread, and waits for nothing: no call of on_ready() begins any more; one on another
  // thread may still run.
  virtual void cancel() noexcept = 0;
};

class loop_user {
 public:
  // Writes the collected requests. Called from any thread, and before the loop sleeps; may do
  // nothing while another thread is writing them.
  virtual void flush() noexcept = 0;
  // A reply or a push is awaited, so a blocked caller should drive the loop. From any thread.
  virtual bool has_pending_replies() const noexcept = 0;

 protected:
  ~loop_user() = default;
};

enum class driven_by {
  callers,  // a blocked caller, by driver(); a background thread when no caller is blocked
  thread,   // always a thread of its own
};

class event_loop {
 public:
  virtual ~event_loop() = default;  // ends its thread and its connections; no event follows
  // Never blocks; on_open or on_closed follows. `tls` null: plain text.
  virtual std::unique_ptr<stream> connect(const address&, const tls_terms* tls, stream_events&) = 0;
  // For client libraries that own their sockets. From any thread; not while the loop is destroyed.
  // Throws std::system_error: `fd` is not open or cannot be watched, or no descriptor is left. A
  // loop of callers is driven only while replies are pending: loop_user::has_pending_replies().
  // Null: this loop watches no descriptors (the simulator's).
  virtual std::unique_ptr<descriptor_watch> watch(int /*fd*/, readiness, descriptor_events&) {
    return nullptr;
  }
  // From any thread: a request was collected for flush(). It is written at once, or within 200 us.
  virtual void request_flush(bool at_once) noexcept = 0;
  // From any thread: a reply or a push is awaited although no caller blocks for it (the handler of
  // an asynchronous caller, a holder to be notified of waiters), so the loop must be driven.
  virtual void attend() noexcept = 0;
  virtual caller_driver* driver() noexcept = 0;  // null: callers just block
  virtual void forked() noexcept = 0;  // in a fork's child: closes descriptors, sends nothing
};

}  // namespace holdfast::base
