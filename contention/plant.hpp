// Violations that a campaign plants, to show that its checks find them.
#pragma once
#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace holdfast::contention {

enum class plant : unsigned char {
  nothing,
  overlap,           // workers believe in a lock after they have released it
  token,             // grants are recorded with token 1
  late_check,        // a check is recorded as true after the deadline
  stale_write,       // the resource accepts every write, and each holder writes after its release
  stuck,             // a lock is never released
  left_lock,         // a client is never closed, and keeps a lock
  left_key,          // a key, node, row or file that belongs to no lock stays in the store
  left_connection,   // a client is never closed, and holds no lock
  left_channel,      // another program stays subscribed to a channel
  left_session,      // another program's session keeps an ephemeral node
  left_transaction,  // another program never ends a transaction
  left_thread,       // workers leave a thread behind
  left_descriptor,   // workers leave a descriptor behind
};

inline constexpr std::array<std::string_view, 14> plant_words =
    {"nothing",      "overlap",          "token",       "late-check",      "stale-write",
     "stuck",        "left-lock",        "left-key",    "left-connection", "left-channel",
     "left-session", "left-transaction", "left-thread", "left-descriptor"};

inline std::string word_of(plant p) {
  return std::string(plant_words.at(static_cast<std::size_t>(p)));
}

}  // namespace holdfast::contention
