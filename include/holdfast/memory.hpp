// A lock store inside the process, for unit tests of code that uses holdfast.
#pragma once
#include <holdfast/fwd.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>

namespace holdfast {
namespace memory {
struct server;
}
inline namespace HOLDFAST_API v0 {

// A handle of the store behind the URL "memory:NAME", through which a test causes faults.
//
// Clients of one name in one process share a store and exclude each other; "memory:" without a name
// is a separate store for every client. A store exists as long as a client or a handle of it.
// Handles are copyable; the last one may be destroyed before its clients. All members are safe to
// call from any thread and do not block. Needs a library that was built with HOLDFAST_WITH_MEMORY,
// the default.
//
//   holdfast::memory_store store("checkout");
//   auto client = holdfast::client::open(store.url() + "?ttl=100ms");
//   store.stop_requests_of(client);  // as if its process had been stopped: its leases expire
//
// Faults of a single client can be set in its URL, where the program under test opens it:
// ?lifetime=process (leases do not expire, as those of file:), latency=DURATION, lose-requests=P,
// lose-replies=P (probabilities from 0 to 1), seed=N, stop-after=DURATION (that long after open()
// no further request of this client arrives).
class memory_store {
 public:
  // Makes a handle of the store with this name, and the store if it does not exist.
  //
  // name  1 to 512 bytes of UTF-8 without control characters
  // errc::bad_name  any other name; the form with std::error_code& then makes a handle of a store
  //                 without clients
  explicit memory_store(std::string_view name);
  memory_store(std::string_view name, std::error_code&);
  std::string url() const;  // "memory:NAME", percent-encoded

  // Delays every request and every reply by `one_way`; messages do not overtake each other.
  // Default: 0. A negative time counts as 0.
  void set_latency(std::chrono::milliseconds one_way);
  // Loses the next `count` requests, or replies, of all clients. A client repeats a request without
  // a reply under the same owner id, first after an eighth of its op-timeout, so a lost request and
  // a lost reply have the same result. One attempt without a reply within the op-timeout fails with
  // errc::unavailable; a waiter waits on. The store's own messages (a lock is handed over) are not
  // replies: only stop_requests_of() and an outage lose them.
  void lose_requests(std::uint32_t count);
  void lose_replies(std::uint32_t count);
  // From now on loses each request and each reply with these probabilities (0 to 1). The same seed
  // and the same calls lose the same messages.
  void lose_at_random(std::uint64_t seed, double requests, double replies);
  // Moves the clock of the store and of its clients forward, as if the process had been stopped for
  // that time: leases, timeouts and bounds of waits expire. held(), status() and expires() show it
  // at once; waiters, callbacks and releases follow on threads of the library.
  //
  // A lease whose ttl has passed is lost, renewed or not: to observe renewals, advance in steps
  // below a third of the ttl. The clock of a name stays ahead until the process ends. A negative
  // time counts as 0.
  void advance(std::chrono::nanoseconds);
  // Cuts this client off, as if its process had been killed or stopped: none of its requests
  // arrives, no message reaches it, and messages in flight are dropped. resume_requests_of() ends
  // it, and the client's waiters then send their requests again at once. A client that is cut off,
  // or in an outage, closes at once and leaves its locks in the store.
  //
  // errc::bad_option  the client is empty, or its locks are in another store
  void stop_requests_of(const client&);
  void stop_requests_of(const client&, std::error_code&);
  void resume_requests_of(const client&);
  void resume_requests_of(const client&, std::error_code&);
  // Until end_outage() the store answers no request and executes none. Then all waiters send their
  // requests again at once.
  void begin_outage();
  void end_outage();
  // A failover to a lagging replica: snapshot() saves the current state, and fail_over() restores
  // it and so forgets what came after. Without a snapshot fail_over() acts as restart_empty(). All
  // waiters send their requests again at once.
  void snapshot();
  void fail_over();
  // A restart without persistence: the store forgets everything, tokens too. New tokens start at
  // the clock, as always. All waiters send their requests again at once.
  void restart_empty();
  // Takes a lock away from all its holders, as an operator would. Returns false when it was free.
  bool remove(std::string_view lock);

 private:
  std::string name_;
  std::shared_ptr<holdfast::memory::server> state_;
};

}  // namespace v0
}  // namespace holdfast
