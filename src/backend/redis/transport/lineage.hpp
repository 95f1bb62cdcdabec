// Which of the servers behind one name is the right one: the commands' connection leads, and is not
// led back to a master that another one has replaced. Pure: it judges what servers say of
// themselves in handshakes, and remembers it.
//
// Source: Redis' replication ids (redis.io, "Redis replication"): a server that is promoted draws a
// new id and names the one before it, so the ids of a name's masters form a chain.
//
//   a connection | the server that it has reached            | what happens
//   -------------+-------------------------------------------+------------------------------------
//   any          | a replica                                 | retry
//   commands     | the one before, or one that follows it    | join
//   commands     | a master that a newer one has replaced    | refuse: there is one on record that
//                |                                           | continues its history
//   commands     | the same, but it has heard from that      | join; what followed it is forgotten
//                | newer one as from its replica, later than |
//                | the client as from a master               |
//   commands     | one of another history                    | join as a stranger: nothing that was
//                |                                           | known of the data counts
//   the others   | that of the commands, which is a replica  | move: all connections are made anew
//                | or has been one since                     |
//   messages,    | that of the commands                      | join
//   renewals     | one that follows that                     | move
//                | any other                                 | retry; move the third time, unless a
//                |                                           | newer one has replaced it
//   probe        | that of the commands                      | join
//                | one that follows that                     | move
//                | any other master                          | retry; move the fifth time in a row,
//                |                                           | or at once where sentinels name it,
//                |                                           | the same; but the present ids of the
//                |                                           | commands' server are compared first
//
// "Follows": its history, or the one before it, and so on, is that of the server before. A known
// process (run_id) with a new history that continues none has only drawn a new name for its old
// one. Servers that say nothing of their history are never refused for that. A server that does not
// report its run_id is that of the commands if the connection for messages is to it too.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/redis/transport/server_identity.hpp"

namespace holdfast::redis {

class lineage {
 public:
  enum class action : unsigned char { join, join_stranger, retry, refuse, move };

  // Each judges a server that a connection has reached; what it says is remembered in any case.
  action judge_commands(const server_identity&);  // the first of those to follow
  action judge_lane(const server_identity&);      // of messages or of renewals
  // `is_named`: by a majority of sentinels, so that a stranger need not be met again and again.
  action judge_probe(const server_identity&, bool is_named = false);
  // The commands' server as it is now.
  action judge_own(const server_identity&);
  // `own`: the commands' server as it is now, requested because a probe has met the stranger. It
  // may have drawn a new name meanwhile, or have become a replica.
  action judge_again(const server_identity& own, const server_identity& stranger);
  // A master that follows the commands' server.
  bool is_heir(const server_identity&);
  // Whether these are names of one history, as far as is known.
  bool is_one_history(std::string_view, std::string_view) const noexcept;
  // A master of another history than the one before.
  bool is_stranger(const server_identity&);
  // The connection for messages at a server without a run_id: `is_counted`, the commands' server
  // counts its subscription.
  action judge_listener(bool is_counted);

  const server_identity& leader() const noexcept { return leader_; }  // that of the commands
  // Why judge_commands() refused it, and how an operator makes it the master again.
  std::string refusal_of(const server_identity&) const;

 private:
  struct node {  // a history of data
    std::string history, before;
    std::string address;           // of a master that has it
    base::time_point master_at{};  // it was one then
  };
  struct process {
    std::string run_id, history;  // that it had last as a master
  };
  using names = std::pair<std::string, std::string>;  // a new name, and the first one

  std::optional<bool> is_leader(const server_identity&) const noexcept;  // nothing: not known
  action judge_follower(const server_identity&, bool is_leader, int& strange, int strange_max);
  void learn(const server_identity&);
  std::string_view first_name(std::string_view history) const noexcept;
  const node* find(std::string_view history) const noexcept;
  bool is_before(std::string_view older, std::string_view newer) const noexcept;
  const node* successor_of(std::string_view history) const noexcept;
  bool follows_leader(const server_identity&) const noexcept;
  bool is_replaced(const server_identity&) const noexcept;
  bool reigns_anew(const server_identity&) const noexcept;
  bool has_its_successor(const server_identity&) const noexcept;
  void lead(const server_identity&);

  server_identity leader_;
  std::vector<node> nodes_;  // each list: those that were heard of last, at the end
  std::vector<process> processes_;
  std::vector<names> renamed_;
  int strange_lanes_ = 0, strange_probes_ = 0;  // in a row
};

}  // namespace holdfast::redis
