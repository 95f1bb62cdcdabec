// Acquire requests of several claims of one client, which the store grants all or none.
#pragma once
#include <list>

#include "backend/memory/transport.hpp"
#include "seam/claim.hpp"

namespace holdfast::memory {

// Requests wait here until all members have joined, and are sent in one message. The message is
// repeated as long as no member has left; a member never repeats its own request, because the store
// could grant that one alone.
class group_barrier {
 public:
  explicit group_barrier(transport& wire) noexcept;
  ~group_barrier();  // the client is closed before

  // With the server's mutex held. `r`: the claim's request, for the first time or repeated.
  void ask(const core::lock_group&, reply_handler&, entry&, const request& r, time_point now,
           event_queue&);
  // The other members do not wait for this one any more.
  void leave(const core::lock_group&, const reply_handler&) noexcept;

 private:
  class one;
  using list = std::list<one>;
  list::iterator find(const core::lock_group&) noexcept;

  transport& wire_;
  list all_;
};

}  // namespace holdfast::memory
