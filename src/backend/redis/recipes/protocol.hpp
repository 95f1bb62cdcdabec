// Requests and replies between a claim and the server.
#pragma once
#include <holdfast/error.hpp>

#include <cstdint>

#include "backend/redis/server_time.hpp"

namespace holdfast::redis {

enum class operation : unsigned char {
  none,
  try_lock,       // SET NX and INCR in one transaction: the lock when it is free
  lock_all,       // several locks at once, when all of them are free
  peek_kind,      // is the busy lock of this kind?
  lock_or_queue,  // the lock when it is free, else a place in the queue; sent again, it reports how
                  // things are
  resolve,        // what became of a try_lock whose reply was lost
  downgrade,
  check_waiters,        // does anybody wait for what is held?
  release_uncontended,  // of what nobody is known to wait for: many go in one script
  release,
  withdraw,  // out of the queue, or out of a lock that was handed over meanwhile
  renew,
};

struct reply {  // to one claim's request
  enum class verdict : unsigned char {
    granted,     // to try_lock, lock_all, lock_or_queue, resolve
    busy,        // another claim has it; resolve: this claim does not have it
    queued,      // lock_or_queue: it is in the queue
    done,        // release, withdraw, renew, downgrade; check_waiters: see `others`
    not_owner,   // release, renew, downgrade: another's, or nobody's
    again,       // the script has more to do than one call goes through
    bad_number,  // ours, but with a number that proves nothing: the counter was lost
    failed,      // refused by the server; see `why`
    not_now,     // not done, and to be sent again: the server is loading, or runs a long script
  };
  operation to = operation::none;
  verdict what = verdict::failed;
  bool others = false;  // another client waits for what was granted, or is held
  bool foreign =
      false;  // queued: the holder is no holdfast claim, and notifies no waiter when it releases
  bool final = true;    // busy of resolve: no earlier request of this claim can arrive any more
  bool left = false;    // failed: something of this claim may be at the server
  bool stands = false;  // granted: the number is that of a group that stood already
  errc why{};           // failed; not_owner: as claim_sink::lost() says it
  std::uint32_t epoch = 0;
  std::uint32_t ticket = 0;         // of a renewal
  std::int64_t number = 0;          // granted: its number. queued: its arrival
  std::int64_t ahead = 0;           // queued: how many waiters are before it
  duration ttl{};                   // that was requested
  duration rest = duration::max();  // queued: of the holder's lease
  time_point sent{};
};

struct push {  // from the server, unsolicited
  enum class kind : unsigned char { grant, look, wanted };
  kind what = kind::grant;
  bool others = false;             // grant: another client waits
  std::int64_t number = 0;         // grant
  time_point until = base::never;  // grant: our deadline; never: it cannot be placed on our clock.
                                   // look: when to look
};

}  // namespace holdfast::redis
