// What a client and the store say to each other.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/environment.hpp"

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

enum class operation : unsigned char {
  ask,    // take the lock, or queue for it; asked again it changes nothing that was got
  renew,  // let the lease run for ttl from now
  leave,  // out of the queue, and the lock to the next if it is ours
};

struct request {
  operation what = operation::ask;
  bool one_attempt = false;  // ask: do not queue
  std::uint32_t epoch = 0;   // what the sender was about; comes back with the reply
  std::uint32_t ticket = 0;  // renew; comes back
  owner_id who;
  duration ttl{};
  duration window{};  // ask: within this time a lock handed over must be asked for
  time_point sent{};  // comes back
  const std::string* note = nullptr;
};

struct reply {
  enum class verdict : unsigned char {
    granted,    // ask
    queued,     // ask
    busy,       // ask, one attempt
    moved,      // renew
    left,       // leave: the lock was ours until now
    not_owner,  // renew, leave: the lock is not ours
  };
  verdict what{};
  bool first = false;  // in the queue
  bool others_wait = false;
  std::uint32_t epoch = 0;
  std::uint32_t ticket = 0;
  duration ttl{};     // as asked
  time_point sent{};  // of the request
  std::int64_t number = 0;
  duration lapse{};  // queued: until the holder's lease runs out
};

// Unasked, and only a hint: what it says is always asked for before it counts.
struct push {
  enum class hint : unsigned char {
    handed,     // the lock was put in your name, for the window that you gave
    look,       // you are first in line now, and the lock lapses `in` from now
    wanted,     // somebody waits for what you hold
    restarted,  // the store may have forgotten you
  };
  hint what{};
  owner_id to;
  duration in{};
};

}  // namespace holdfast::memory
