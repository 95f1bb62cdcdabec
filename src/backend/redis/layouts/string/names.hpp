// The names that layout `string` writes: keys, owners, channels.
#pragma once
#include <holdfast/options.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "backend/redis/slots.hpp"

namespace holdfast::redis {

// The keys beside the lock's own: all in its slot of a cluster, by its hash tag. The lock "a{b}c"
// has "holdfast:{b}:a{b}c:q"; the lock "a", which is its own tag, "holdfast:{a}:a:q".
struct side_key {
  std::string_view tag;
  std::string_view lock;
  char what = 0;  // q: waiters, m: notes of waiters and of the holder, r: the members of the
                  // lock, p: the total of a semaphore

  std::size_t size() const noexcept;
  void write_to(char*) const noexcept;  // size() bytes
};

inline constexpr std::string_view counter_key = "holdfast:n";
// In a cluster each slot has a counter of its own: "holdfast:{5ku}:n".
std::string counter_of_slot(slot_number);
inline constexpr std::string_view side_keys_pattern = "holdfast:{*:[mqr]";  // of inspect()

// The part in the first braces that are not empty; without such a part all of it. Empty when no
// side key can be in the same slot, as for "a}b": then it can be used on a single server only.
std::string_view tag_of(std::string_view lock_key) noexcept;

// Empty, or why the lock's key cannot be used and what to do.
std::string_view key_fault(std::string_view lock_key) noexcept;

// The lock's key of a side key, or nothing when it is not one.
std::optional<std::string_view> lock_of(std::string_view side_key_text) noexcept;

// A holder or a waiter: a claim of a client. 128 random bits, drawn for every acquire.
struct claim_id {
  std::uint64_t high = 0, low = 0;
  bool operator==(const claim_id&) const noexcept = default;
  explicit operator bool() const noexcept { return (high | low) != 0; }
};

// A claim on permits shows how many: the second eight of its digits. The scripts count what its
// semaphore's holders have by these.
claim_id with_permits(claim_id, std::uint32_t) noexcept;
std::uint32_t permits_of(std::string_view owner) noexcept;  // at least 1

// hf1:<client, 16 hexadecimal digits>:<claim, 32>, as K holds it; a reader's begins with hfs:, and
// one of permits with hfp:.
inline constexpr std::size_t owner_bytes = 4 + 16 + 1 + 32;
using owner_text = std::array<char, owner_bytes>;
owner_text text_of(std::uint64_t client, const claim_id&,
                   lock_mode = lock_mode::exclusive) noexcept;
inline std::string_view view(const owner_text& t) noexcept { return {t.data(), t.size()}; }
std::optional<claim_id> claim_of(std::uint64_t client, std::string_view owner) noexcept;
// K while readers have the lock, under one owner, and while it is a semaphore.
std::string group_of(std::int64_t number);  // hfg:<number>
// The number of permits; nullopt when K is something else.
std::optional<std::uint32_t> semaphore_total(std::string_view k) noexcept;

std::string channel_of(std::uint64_t client);  // hf:<client>

}  // namespace holdfast::redis
