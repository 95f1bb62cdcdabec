// What a client and the store say to each other.
#pragma once
#include <holdfast/options.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/environment.hpp"

namespace holdfast::memory {

using core::duration;
using core::time_point;

// Who asks: 128 bits, another one for every acquire. Zero: nobody.
struct owner_id {
  std::uint64_t high = 0, low = 0;
  explicit operator bool() const noexcept { return (high | low) != 0; }
  bool operator==(const owner_id&) const noexcept = default;
};
std::string text_of(const owner_id&);  // 32 hexadecimal digits
std::optional<owner_id> owner_id_of(std::string_view text);

// Whom a lock is to be taken from: one holder, or all readers that hold it together.
struct holder_seen {
  owner_id who;
  std::int64_t group = 0;  // their number
  explicit operator bool() const noexcept { return who || group != 0; }
};
std::string group_text_of(std::int64_t number);
holder_seen holder_seen_of(std::string_view text);

// The ttl of a lease that does not run out.
inline constexpr duration forever = std::chrono::hours{24 * 365 * 100};

enum class operation : unsigned char {
  acquire,  // take the lock, or queue for it; asked again it changes nothing that was got
  renew,    // let the lease run for ttl from now
  share,    // let readers in beside us
  leave,    // out of the queue, and what is ours to the next
};

// What an ask says beyond the usual; one for the lock alone without a note has none.
struct request_details {
  std::string note;
  lock_mode mode = lock_mode::exclusive;
  std::uint32_t permits = 0;        // of a semaphore
  std::uint32_t total_permits = 0;  // so many has the semaphore; 0: it is a lock
};

struct request {
  operation what = operation::acquire;
  bool one_attempt = false;  // ask: do not queue
  bool shares = false;       // renew: what was taken alone is shared by now
  std::uint32_t epoch = 0;   // what the sender was about; comes back with the reply
  std::uint32_t ticket = 0;  // renew; comes back
  owner_id who;
  duration ttl{};
  duration window{};  // ask: within this time a lock handed over must be asked for
  time_point sent{};  // comes back
  const request_details* more = nullptr;  // ask
};

struct reply {
  enum class verdict : unsigned char {
    granted,    // ask
    queued,     // ask
    busy,       // ask, one attempt
    mismatch,   // ask: it is a lock, or a semaphore, or of another count
    moved,      // renew
    shared,     // share
    left,       // leave: it was ours until now
    not_owner,  // renew, share, leave: it is not ours
  };
  verdict what{};
  bool first = false;  // in the queue
  bool others_wait = false;
  bool others_hold = false;  // not_owner
  std::uint32_t epoch = 0;
  std::uint32_t ticket = 0;
  std::uint32_t total_permits = 0;  // mismatch: what it is; as in particulars
  duration ttl{};                   // as asked
  time_point sent{};                // of the request
  std::int64_t number = 0;
  duration lapse{};  // queued: until the first lease of its holders runs out
};

// Unasked, and only a hint: what it says is always asked for before it counts.
struct push {
  enum class hint : unsigned char {
    handed,     // what you asked for was put in your name, for the window that you gave
    look,       // you are first in line now, and a holder's lease lapses `in` from now
    wanted,     // somebody waits for what you hold
    restarted,  // the store may have forgotten you
  };
  hint what{};
  owner_id to;
  duration in{};
};

}  // namespace holdfast::memory
