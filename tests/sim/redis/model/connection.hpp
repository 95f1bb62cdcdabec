// The server's state of a client.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::sim {

class peer;
struct command;

struct queued_command {
  const command* what;
  std::vector<std::string> argv;
};

// A WAIT: it is answered once enough replicas have confirmed all before it, or at its timeout.
struct wait_for_replicas {
  std::int64_t sent = 0;  // server::sent
  long long replicas = 0;
  std::chrono::microseconds until{};
};

struct connection {
  int handle = 0;
  long long id = 0;  // CLIENT ID: from the start again after a restart
  peer* end = nullptr;
  std::string name;
  std::size_t database = 0;
  bool trusted = false;                    // needs no AUTH, or had it
  bool closing = false;                    // closed when its answers are delivered
  bool pending = false;                    // `out` waits to be delivered
  bool held = false;                       // its next command waits for the end of a failover
  std::int64_t sent = 0;                   // server::sent after its last command
  std::optional<wait_for_replicas> waits;  // and its next commands wait for the answer
  std::string unread;                      // the front of a command
  std::string out;

  bool in_multi = false;
  bool must_abort = false;  // a command was refused while it was to be queued
  std::vector<queued_command> queued;
  bool runs_group = false;  // of these; nothing in it waits
  std::vector<queued_command> leave_multi() {
    in_multi = must_abort = false;
    return std::exchange(queued, {});
  }

  // In a cluster: 2 after ASKING, and 1 for the requests that it covers.
  int asking = 0;

  std::vector<std::string> channels;
};

}  // namespace holdfast::sim
