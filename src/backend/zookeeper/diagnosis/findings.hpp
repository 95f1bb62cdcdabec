// The facts that a diagnosis has read from an ensemble, and their meaning for locks. Pure.
#pragma once
#include <holdfast/finding.hpp>

#include <optional>
#include <string>
#include <vector>

#include "backend/zookeeper/transport/replies.hpp"
#include "backend/zookeeper/transport/session.hpp"

namespace holdfast::zookeeper {

struct server_facts {
  std::string name;         // "HOST:PORT", as in the URL
  std::string srvr;         // its answer; empty: none
  base::failure unreached;  // code {}: it answered srvr
  bool was_open = false;    // it took the connection for that
  server_mode mode = server_mode::unknown;
  base::failure no_session;                // code {}: a session could be opened there
  duration shortest{}, longest{};          // the session timeouts that it grants; zero: not known
  std::optional<bool> has_local_sessions;  // empty: not known

  bool serves() const noexcept { return !no_session.code; }
};

struct acl_entry {
  static constexpr int read = 1, write = 2, create = 4, remove = 8, admin = 16;
  int rights = 0;
  std::string scheme, id;
  bool is_anyone() const noexcept { return scheme == "world" && id == "anyone"; }
};

struct clock_facts {
  duration offset{};  // how far the leader's clock is ahead of this machine's
  duration trip{};    // the offset is known to half of it
};

struct tree_facts {      // what stands under the chroot
  std::string root;      // "/" or the chroot
  base::failure unread;  // code {}: a session was there to read it
  std::vector<acl_entry> acl;
  error acl_code{}, list_code{}, create_code{}, remove_code{};
  std::size_t locks = 0;
  bool are_all = false;           // the others were not looked at
  std::int64_t sequence = 0;      // the largest number of nodes that any lock has had
  std::string most_used;          // its name
  std::vector<std::string> open;  // locks whose holders' nodes anybody may delete
  std::vector<std::string> odd;   // "NAME (it is ephemeral)", "NAME (it holds data)"
  std::vector<duration> trips;
  std::optional<clock_facts> clock;
};

struct ensemble_facts {
  std::vector<server_facts> servers;
  tree_facts tree;
  duration asked{}, granted{};  // session timeouts of the client; granted zero: no session
  duration op_timeout{};
  attach_to attach{};
  bool has_tls = false;
  bool has_user = false;
};

std::string ms_text(duration);  // "250 ms"

finding grade_servers(const ensemble_facts&);
finding grade_leader(const ensemble_facts&);
finding grade_version(const ensemble_facts&);
finding grade_timeouts(const ensemble_facts&);
finding grade_connections(const ensemble_facts&);
finding grade_sessions(const ensemble_facts&);
finding grade_transport(const ensemble_facts&);
finding grade_rights(const ensemble_facts&);
finding grade_acl(const ensemble_facts&);
finding grade_sequences(const ensemble_facts&);
finding grade_nodes(const ensemble_facts&);
finding grade_clock(const ensemble_facts&);
finding grade_latency(const ensemble_facts&);

std::vector<finding> grade_all(const ensemble_facts&);  // in this order

}  // namespace holdfast::zookeeper
