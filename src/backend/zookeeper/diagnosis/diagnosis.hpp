// diagnose(): asks each server of the URL what it is, opens sessions of its own there, and looks at
// what stands in the tree.
//
//   of                | sent                               | why so
//   ------------------+------------------------------------+--------------------------------------
//   each server       | srvr                               | its mode and its version
//   each server that  | sessions that ask for the least    | their bounds must be equal, and one
//   answers           | and the most of a timeout         | connection must be spare
//                     | sync, another session, sync        | a session of the ensemble is a
//                     |                                    | transaction, a local one is none
//   the tree, by a    | getACL and list of the chroot; a   | the ACL is asked when something is
//   session as the    | node there, which is deleted again | made; its time is the leader's
//   client's own      | exists and getACL of each lock, of | cversion counts its nodes
//                     | the first thousand                 |
#pragma once
#include "backend/zookeeper/diagnosis/findings.hpp"
#include "backend/zookeeper/settings.hpp"

namespace holdfast::zookeeper {

// Blocks: at most a few op-timeouts for each server. `granted`: the session timeout of the client;
// zero: it has no session.
std::vector<finding> diagnose_ensemble(base::environment&, const settings&, duration granted);
// Its parts, which block for as long: one server; the tree, as far as a session answers.
server_facts diagnose_server(base::environment&, const settings&, const base::address&);
tree_facts diagnose_tree(base::environment&, const settings&);

}  // namespace holdfast::zookeeper
