// The messages between a client and the store.
#pragma once
#include <holdfast/options.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/environment.hpp"

namespace holdfast::memory {

using base::duration;
using base::time_point;

// Identifies a claim at the store: 128 bits, new for every acquire. Zero: nobody.
struct owner_id {
  std::uint64_t high = 0, low = 0;
  explicit operator bool() const noexcept { return (high | low) != 0; }
  bool operator==(const owner_id&) const noexcept = default;
};
std::string text_of(const owner_id&);  // 32 hexadecimal digits
std::optional<owner_id> owner_id_of(std::string_view text);

// The holder from which a lock is to be taken: one owner, or all readers that hold it together.
struct holder_seen {
  owner_id who;
  std::int64_t group = 0;  // their number
  explicit operator bool() const noexcept { return who || group != 0; }
};
std::string group_text_of(std::int64_t number);
holder_seen holder_seen_of(std::string_view text);

// The ttl of a lease that does not expire.
inline constexpr duration forever = std::chrono::hours{24 * 365 * 100};

enum class operation : unsigned char {
  none,
  acquire,  // take the lock, or queue for it; repeating it changes nothing already granted
  renew,    // let the lease expire ttl from now
  share,    // admit readers beside the sender
  leave,    // leave the queue; what the sender holds passes to the next
};

// The rare details of a request; an exclusive lock without a note needs none.
struct request_details {
  std::string note;
  lock_mode mode = lock_mode::exclusive;
  std::uint32_t permits = 0;        // wanted, of a semaphore
  std::uint32_t total_permits = 0;  // size of the semaphore; 0: a lock
};

struct request {
  operation what = operation::acquire;
  bool one_attempt = false;  // acquire: do not queue
  bool shares = false;       // renew: the grant was downgraded since
  std::uint32_t epoch = 0;   // of the sender; returned in the reply
  std::uint32_t ticket = 0;  // renew; returned
  owner_id who;
  duration ttl{};
  duration window{};  // acquire: a hand-over expires unless it is confirmed within this time
  time_point sent{};  // returned
  const request_details* more = nullptr;  // acquire
};

struct reply {
  enum class verdict : unsigned char {
    granted,    // acquire
    queued,     // acquire
    busy,       // acquire, one attempt
    mismatch,   // acquire: it is a lock, or a semaphore, or one of another size
    moved,      // renew
    shared,     // share
    left,       // leave: the sender held it until now
    not_owner,  // renew, share, leave: the sender does not hold it
  };
  verdict what{};
  bool first = false;  // in the queue
  bool others_wait = false;
  bool others_hold = false;  // not_owner
  std::uint32_t epoch = 0;
  std::uint32_t ticket = 0;
  std::uint32_t total_permits = 0;  // mismatch: the size in use; as in request_details
  duration ttl{};                   // as requested
  time_point sent{};                // of the request
  std::int64_t number = 0;
  duration lapse{};  // queued: time until the first lease of its holders expires
};

// Sent unasked, and only a hint: a request must confirm it before it counts.
struct push {
  enum class hint : unsigned char {
    handed,     // the lock was granted to you for your window
    look,       // you are first in the queue now; a holder's lease expires after `in`
    wanted,     // another client waits for the lock that you hold
    restarted,  // the store may have lost its data
  };
  hint what{};
  owner_id to;
  duration in{};
};

}  // namespace holdfast::memory
