// The claims of a layout whose leases are to be renewed, many in one request. Renewals have a
// connection of their own. While that cannot be had (a server at its maxclients, no descriptor, no
// thread), they go with the commands: a renewal that waits behind other requests is better than a
// lost lock.
#pragma once
#include <cstddef>
#include <deque>
#include <utility>

#include "backend/redis/transport/transport.hpp"
#include "base/mutant.hpp"
#include "claim/claim_list.hpp"

namespace holdfast::redis {

// A claim is in the queue once; its `renewing` says whether. With the reactor's mutex held.
class renewal_queue {
 public:
  static constexpr std::size_t batch_max = 256;  // claims in one request

  template <class Claim>
  void add(Claim& c, transport& over) {
    if (std::exchange(c.renewing, true)) return;
    waiting_.push_back(c.place());
    if (waiting_.size() > 1) return;
    const time_point now = over.reactor().env().now();
    over.open(lane::renewals, now);
    if (goes_with_commands(over)) return over.tick_by(now);  // on_tick() writes them
    over.request_flush(lane::renewals, true);
  }
  template <class Claims>
  void add_held(const Claims& claims, transport& over) {
    claims.for_each([&](auto& c) {
      if (c.recipe().is_held()) add(c, over);
    });
  }
  // There are some, and their own connection has failed and not been ready since.
  bool goes_with_commands(const transport& over) const noexcept {
    return !waiting_.empty() && over.has_failed(lane::renewals) && !over.is_ready(lane::renewals) &&
           over.is_ready(lane::commands) &&
           !core::planted(core::mutant::renewals_wait_for_their_connection);
  }
  // At most 16 requests are in flight, so that the server need not buffer more, however many leases
  // there are. Replies bring the next ones.
  bool may_write() const noexcept { return !waiting_.empty() && in_flight_ < requests_max; }
  // Takes the claims of one request. `use` says of each whether it is renewed: a claim that was
  // released meanwhile is not.
  template <class Table, class Use>
  void take_batch(const Table& claims, Use use) {
    for (std::size_t n = 0; !waiting_.empty() && n < batch_max; waiting_.pop_front()) {
      auto* const c = claims.at(waiting_.front());
      if (c && std::exchange(c->renewing, false) && use(*c)) ++n;
    }
  }
  void on_sent() noexcept { ++in_flight_; }
  void on_end(transport& over) noexcept {  // of a request: it was answered, or never will be
    --in_flight_;
    if (goes_with_commands(over)) over.tick_by(over.reactor().env().now());
  }

 private:
  static constexpr std::size_t requests_max = 16;

  std::deque<claims::claim_handle> waiting_;
  std::size_t in_flight_ = 0;
};

}  // namespace holdfast::redis
