// A lock store inside the process, for unit tests of code that uses holdfast.
#pragma once
#include <holdfast/fwd.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace holdfast {
inline namespace v0 {

// The store behind the URL "memory:NAME", with its faults in your hand. Clients of one name in one
// process share a store and exclude each other; "memory:" without a name is a store of its own for
// every client. A store lives as long as a client or a handle of it. Handles are copyable; all
// members may be called from any thread.
//
//   holdfast::memory_store store("checkout");
//   auto client = holdfast::client::open(store.url() + "?ttl=100ms");
//   store.stop_requests_of(client);     // as if its process had been stopped: its leases run out
class memory_store {
 public:
  explicit memory_store(std::string_view name);  // the name of a lock would do: see client::mutex
  std::string url() const;                       // "memory:NAME"

  // Every request takes so long to arrive, and every reply to come back. Default: none.
  void set_latency(std::chrono::milliseconds one_way);
  // The next `count` requests, or replies, are lost; their sender learns by its op-timeout.
  void lose_requests(std::uint32_t count);
  void lose_replies(std::uint32_t count);
  // From now on each request and each reply is lost with these chances (0 to 1), drawn from `seed`:
  // the same seed and the same calls lose the same messages.
  void lose_at_random(std::uint64_t seed, double requests, double replies);
  // Nothing of this client arrives any more, and nothing reaches it, as if its process was killed
  // or stopped; until resume_requests_of(). What it has sent by then and is under way, is dropped.
  void stop_requests_of(const client&);
  void resume_requests_of(const client&);
  // No request is answered by anybody until end_outage().
  void begin_outage();
  void end_outage();
  // What a failover to a lagging replica does: snapshot() remembers the state of now, and
  // fail_over() puts it back, with everything forgotten that came after.
  void snapshot();
  void fail_over();
  // What a restart without persistence does: everything is forgotten, tokens too.
  void restart_empty();
  // Takes a lock away whoever holds it, as an operator would; false when it was free.
  bool remove(std::string_view lock);

 private:
  std::shared_ptr<class memory_state> state_;
};

}  // namespace v0
}  // namespace holdfast
