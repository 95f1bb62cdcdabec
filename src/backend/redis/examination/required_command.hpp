// The commands that a user must be allowed to send, and what each is for.
#pragma once
#include <span>
#include <string_view>

namespace holdfast::redis {

enum class needed_for : unsigned char { locks, recovery, looking, tidying, naming, scripts };

struct required_command {
  std::string_view right;  // as an ACL names it: "set", "client|kill"
  std::string_view call;   // one that is valid, for a transaction that is discarded; words apart
  needed_for what = needed_for::locks;
};

struct layout_needs {
  std::span<const required_command> commands;
  // The key of its number counter, which is also the key in the calls; empty: it has none, and the
  // calls have a key that the user need not reach.
  std::string_view counter;
  bool counts_by_lock = false;  // it has one for each lock instead
  // The pattern of its channels; of layouts with one for each lock that of all of them, which a
  // user need not reach.
  std::string_view channels = "hf:*";
  bool has_transactions = false;  // it sends MULTI and EXEC
};

// Of every connection, whatever the layout is. MULTI and EXEC are examined before.
std::span<const required_command> commands_of_connections() noexcept;

}  // namespace holdfast::redis
