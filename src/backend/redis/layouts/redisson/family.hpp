// The parts that the layouts of Redisson's locks share: names and owners, the counter of numbers,
// the reply to an acquire, and the errors of the scripts. Source: RedissonObject.prefixName() and
// suffixName(), RedissonBaseLock.getLockName() of Redisson.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "backend/redis/layouts/retrying_codec.hpp"

namespace holdfast::redis::redisson {

// A random UUID, version 4.
std::string uuid_of(const retrying_owner&);
// The beginning of all owners of one client.
std::string new_client_id(base::environment&);
// "<client id>:<thread id>". The thread id is a positive Java long, another one for every acquire.
std::string owner_of(std::string_view client_id, const retrying_owner&);
// Also those of Redisson.
bool is_owner(std::string_view text) noexcept;

// Names beside the key of a lock: "prefix:{key}", and "{key}:suffix". A key with braces gets none.
std::string prefixed(std::string_view prefix, std::string_view key);
std::string suffixed(std::string_view key, std::string_view suffix);
// A channel as scripts/publish.lua takes it.
std::string published(channel_kind, std::string channel);
// The waiters of the RFairLock with that key, the next one first.
std::string fair_queue_of(std::string_view key);

// The keys of such a lock would lie on several nodes of a cluster.
std::string name_fault(std::string_view name);

inline constexpr error_meaning bad_type{"BADTYPE", errc::mismatch, false, false,
                                        "the key holds data that is not a lock, or another kind of "
                                        "lock; choose another name, or ?prefix="};
inline constexpr error_meaning bad_token{
    "BADTOKEN", errc::refused, false, false,
    "it must hold a whole number below 2^53, which the lock counts up; it was written by another "
    "program. Delete it where no fencing token of this lock is kept, or set a higher number than "
    "any of them"};

// A codec whose keys and channels have names as Redisson forms them.
class family_codec : public retrying_codec {
 public:
  using retrying_codec::retrying_codec;
  std::string name_fault(std::string_view) const final;
  std::string channel_of(const lock_request& r) const override { return channel_at(r.key); }

 protected:
  std::string channel_at(std::string_view key) const;         // empty: its locks have none
  std::string published_channel(std::string_view key) const;  // the same, as the scripts take it
};

// One whose owners and replies are those of Redisson's locks.
class lock_codec : public family_codec {
 public:
  using family_codec::family_codec;
  bool is_owner(std::string_view text) const noexcept final;
  // An acquire: {1, the number} granted | {0, ms until a try can succeed; -1: not known} busy.
  retrying_reply read(const value&, const lock_request&, retrying_reply r) const final;
  std::vector<holder> read_holders_reply(const value&) const override;  // of scripts/holders.lua
};

inline constexpr error_meaning errors_of_scripts[] = {
    bad_type,
    {"OTHERKIND", errc::mismatch, false, false,
     "a name is one kind of lock everywhere; choose another name for this one, or "
     "?layout=redisson-rw"},
    bad_token,
};

// The counter of RFencedLock.
std::string counter_of(std::string_view key);

}  // namespace holdfast::redis::redisson
