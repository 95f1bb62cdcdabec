// Which server a connection is to, by what the server says of itself in the handshake. None of it
// but the role and the replication ids changes while the connection is open.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/environment.hpp"

namespace holdfast::redis {

enum class server_role : unsigned char { unknown, master, replica };

struct attached_replica {
  std::string address;
  base::duration silence;  // at most, since the master last heard from it
};

struct server_identity {
  std::string run_id;  // drawn at each start of the server; empty: it does not say
  server_role role = server_role::unknown;
  // master_replid names the history of its data, master_replid2 the one that this continues.
  // Empty: none, or it does not say.
  std::string history, history_before;
  std::string address;                     // its end of this connection; empty: it does not say
  std::vector<attached_replica> replicas;  // that are in sync, as far as it knows
  // Where it does not report a run_id: whether the client's connection for messages is to this
  // server (subscriptions::own). Nothing: not known.
  std::optional<bool> has_listener;
  bool is_sentinel = false;                // no server of data
  bool has_sharded_channels = false;       // Redis 7.0 or later
  base::time_point asked_at{}, told_at{};  // it has described its replication in between

  bool is_known() const noexcept { return !run_id.empty(); }
  // As far as is known: two servers that say nothing may be one.
  bool is_same_process(const server_identity& other) const noexcept {
    return run_id == other.run_id;
  }
};

void read_server(std::string_view info_server, server_identity&);
void read_replication(std::string_view info_replication, server_identity&);
void read_own_end(std::string_view client_info, server_identity&);
void read_role(std::string_view role, server_identity&);
void read_version(std::string_view version, server_identity&);  // "7.0.15"

// The first digits of a run_id or a history, as texts and messages name it.
inline std::string_view short_id(std::string_view id) noexcept { return id.substr(0, 8); }

}  // namespace holdfast::redis
