// Asks of several claims of one client that the store grants all or none.
#pragma once
#include <list>

#include "backend/memory/transport.hpp"
#include "seam/claim.hpp"

namespace holdfast::memory {

// They wait here until all members have come, and go to the store in one message, which is sent
// again as long as nobody has left: a claim's own repetition alone could be granted alone.
class gatherings {
 public:
  explicit gatherings(link& wire) noexcept;
  ~gatherings();  // with the client closed

  // With the server's mutex held. `r` is what the claim asks, for the first time or again.
  void ask(const core::gathering&, correspondent&, entry&, const request& r, time_point now,
           crier&);
  void leave(const core::gathering&, const correspondent&) noexcept;  // it waits no more

 private:
  class one;
  using list = std::list<one>;
  list::iterator find(const core::gathering&) noexcept;

  link& wire_;
  list all_;
};

}  // namespace holdfast::memory
