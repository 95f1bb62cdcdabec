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

// The store behind the URL "memory:NAME", with its faults in your hand. Clients of one name in one
// process share a store and exclude each other; "memory:" without a name is a store of its own for
// every client. A store lives as long as a client or a handle of it. Handles are copyable; all
// members may be called from any thread.
//
//   holdfast::memory_store store("checkout");
//   auto client = holdfast::client::open(store.url() + "?ttl=100ms");
//   store.stop_requests_of(client);     // as if its process had been stopped: its leases run out
//
// What a single client shall meet can stand in its URL, where the program under test opens it:
// ?lifetime=process (leases do not run out, as those of file:), latency=DURATION, lose-requests=P,
// lose-replies=P (chances from 0 to 1), seed=N, stop-after=DURATION (nothing of this client arrives
// any more so long after the open).
class memory_store {
 public:
  // A handle of the store with this name, which is made if nobody has it.
  //
  // name  1 to 512 bytes of UTF-8 without control characters
  // Errors: errc::bad_name, for any other name; the second form is then a handle of a store that no
  // client is in.
  explicit memory_store(std::string_view name);
  memory_store(std::string_view name, std::error_code&);
  std::string url() const;  // "memory:NAME"

  // Every request takes so long to arrive, and every reply to come back; messages do not overtake
  // each other. Default: none. A negative time is none.
  void set_latency(std::chrono::milliseconds one_way);
  // The next `count` requests, or replies, are lost, whoever sends them. A request without a reply
  // is sent again under the same owner id, after an eighth of the client's op-timeout for the first
  // time, so one that was heard and one that was not come to the same; one attempt that has heard
  // nothing by the op-timeout fails with errc::unavailable, a waiter waits on. What the store says
  // unasked, that a lock is handed over, is no reply: only stop_requests_of() and an outage lose
  // it.
  void lose_requests(std::uint32_t count);
  void lose_replies(std::uint32_t count);
  // From now on each request and each reply is lost with these chances (0 to 1), drawn from `seed`:
  // the same seed and the same calls lose the same messages.
  void lose_at_random(std::uint64_t seed, double requests, double replies);
  // Moves the clock of the store and of its clients forward: leases, time-outs and bounds of waits
  // run out as if that time had passed while the process stood still. held(), status() and
  // expires() tell so at once; waiters, callbacks and releases follow, on threads of the library.
  // A lease whose ttl is over is lost, renewed or not: to see renewals, advance in steps of less
  // than a third of the ttl. The clock of a name goes on from there as long as the process lives. A
  // negative time is none.
  void advance(std::chrono::nanoseconds);
  // Nothing of this client arrives any more, and nothing reaches it, as if its process was killed
  // or stopped; until resume_requests_of(): then those that wait ask again at once. What is under
  // way is dropped. A client that is stopped, or in an outage, closes at once and leaves behind
  // what it holds. Errors, of both: errc::bad_option, when the client's locks are not in this
  // store, or it is empty.
  void stop_requests_of(const client&);
  void stop_requests_of(const client&, std::error_code&);
  void resume_requests_of(const client&);
  void resume_requests_of(const client&, std::error_code&);
  // No request is answered by anybody until end_outage(), and none has an effect. Then those that
  // wait ask again at once.
  void begin_outage();
  void end_outage();
  // What a failover to a lagging replica does: snapshot() remembers the state of now, and
  // fail_over() puts it back, with everything forgotten that came after. Without a snapshot:
  // restart_empty(). Those that wait ask again at once.
  void snapshot();
  void fail_over();
  // What a restart without persistence does: everything is forgotten, tokens too (new ones start at
  // the clock, as always).
  void restart_empty();
  // Takes a lock away whoever holds it, as an operator would; false when it was free.
  bool remove(std::string_view lock);

 private:
  std::string name_;
  std::shared_ptr<holdfast::memory::server> state_;
};

}  // namespace v0
}  // namespace holdfast
