// The commands that a user must be allowed to send, and what each is for.
#pragma once
#include <span>
#include <string_view>

namespace holdfast::redis {

enum class needed_for : unsigned char {
  locks,
  recovery,
  comparison,      // of the connections' servers
  inspection,      // by an operator
  cleanup,         // of what killed holders left
  identification,  // of connections in CLIENT LIST
  scripts,
  messages_in_cluster,  // of locks that other libraries share
};

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
  bool counts_by_lock = false;    // it has one for each lock instead
  bool counts_by_slot = false;    // or one for each slot of a cluster
  bool counts_by_server = false;  // each of several servers counts its votes
  // The pattern of its channels; of layouts with one for each lock that of all of them, which a
  // user need not reach.
  std::string_view channels = "hf:*";
  bool has_transactions = false;  // it sends MULTI and EXEC
};

// The commands of every connection, whatever the layout. MULTI and EXEC are examined before.
inline constexpr required_command commands_of_connections[] = {
    {"ping", "PING"},
    {"time", "TIME"},
    {"evalsha", "EVALSHA 0000000000000000000000000000000000000000 0"},
    {"eval", "EVAL return 0"},
    {"script|load", "SCRIPT LOAD return", needed_for::scripts},
    {"client|setname", "CLIENT SETNAME holdfast", needed_for::identification},
    {"client|id", "CLIENT ID", needed_for::recovery},
    {"client|info", "CLIENT INFO", needed_for::recovery},
    {"client|kill", "CLIENT KILL ID 0", needed_for::recovery},
    {"info", "INFO server", needed_for::comparison},
};

}  // namespace holdfast::redis
