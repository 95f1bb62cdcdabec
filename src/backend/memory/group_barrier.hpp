// Asks of several claims of one client that the store grants all or none.
#pragma once
#include <list>

#include "backend/memory/transport.hpp"
#include "seam/claim.hpp"

namespace holdfast::memory {

// They wait here until all members have come, and go to the store in one message, which is sent
// again as long as nobody has left: a claim's own repetition alone could be granted alone.
class group_barrier {
 public:
  explicit group_barrier(transport& wire) noexcept;
  ~group_barrier();  // with the client closed

  // With the server's mutex held. `r` is what the claim asks, for the first time or again.
  void ask(const core::lock_group&, reply_handler&, entry&, const request& r, time_point now,
           event_queue&);
  void leave(const core::lock_group&, const reply_handler&) noexcept;  // it waits no more

 private:
  class one;
  using list = std::list<one>;
  list::iterator find(const core::lock_group&) noexcept;

  transport& wire_;
  list all_;
};

}  // namespace holdfast::memory
