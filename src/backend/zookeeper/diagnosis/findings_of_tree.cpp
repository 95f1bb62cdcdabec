// Findings about the nodes of the tree, the rights to change them, and measurements.
#include <algorithm>

#include "backend/zookeeper/diagnosis/findings.hpp"
#include "backend/zookeeper/layouts/node_sequence.hpp"

namespace holdfast::zookeeper {

namespace {

using namespace std::chrono_literals;
using grade = finding_grade;

constexpr std::int64_t sequence_high = 2'000'000'000;
constexpr duration offset_max = 1s;
constexpr duration trip_max = 100ms;

std::string list_of(const std::vector<std::string>& names) {
  constexpr std::size_t shown_max = 5;
  std::string out;
  for (std::size_t i = 0; i < names.size() && i < shown_max; ++i)
    out.append(i == 0 ? "" : ", ").append(names[i]);
  return names.size() > shown_max ? out + " ..." : out;
}

finding unread(std::string aspect, const ensemble_facts& f) {
  return {std::move(aspect), grade::warn, "not known: " + f.tree.unread.text,
          "examine it again once a session can be opened"};
}

std::string error_text(error e) { return "error " + std::to_string(static_cast<int>(e)); }

}  // namespace

finding grade_rights(const ensemble_facts& f) {
  const tree_facts& t = f.tree;
  if (t.unread.code) return unread("rights", f);
  if (t.create_code == error::no_auth)
    return {"rights", grade::bad,
            "this user may not create under " + t.root +
                ": only locks that are there already "
                "can be taken",
            "give it the right c in the ACL of " + t.root};
  if (t.create_code != error::ok)
    return {"rights", grade::bad,
            "no node could be created under " + t.root + " (" + error_text(t.create_code) +
                "): no lock can be taken there",
            "see the error in ZooKeeper's documentation; -120 is a local session that cannot be "
            "upgraded, -125 a quota"};
  if (t.remove_code == error::no_auth)
    return {"rights", grade::warn,
            "this user may not delete under " + t.root +
                "; releases need the right below each "
                "lock, which its creator gives",
            "give it the right d in the ACL of " + t.root};
  if (t.list_code != error::ok)
    return {"rights", grade::warn,
            "this user may not list " + t.root + " (" + error_text(t.list_code) +
                "): holdfast list fails",
            "give it the right r in the ACL of " + t.root};
  return {"rights", grade::good, "this user may list, create and delete under " + t.root, {}};
}

finding grade_acl(const ensemble_facts& f) {
  const tree_facts& t = f.tree;
  if (t.unread.code) return unread("acl", f);
  const bool is_known = t.acl_code == error::ok;
  const bool anyone_creates = std::ranges::any_of(t.acl, [](const acl_entry& e) {
    return e.is_anyone() && (e.rights & acl_entry::create) != 0;
  });
  if (!t.open.empty() || anyone_creates)
    return {"acl", grade::warn,
            "every client of the servers may delete the holders' nodes (world:anyone has d at " +
                (t.open.empty() ? t.root : list_of(t.open)) +
                "), and a second client gets the lock: the right d at the lock's node decides, not "
                "the ACL of the holder's",
            "restrict access to the servers (network, TLS with client certificates), or create the "
            "nodes of the locks with an ACL of your own"};
  if (!is_known)
    return {"acl", grade::warn,
            "not known: the ACL of " + t.root + " cannot be read (" + error_text(t.acl_code) + ")",
            "give this user the right r or a there"};
  return {"acl", grade::good, "not everybody may delete holders' nodes under " + t.root, {}};
}

finding grade_sequences(const ensemble_facts& f) {
  const tree_facts& t = f.tree;
  if (t.unread.code) return unread("sequences", f);
  if (t.list_code != error::ok)
    return {"sequences", grade::warn, "not known: " + t.root + " cannot be listed",
            "give this user the right r there"};
  const std::string of = t.are_all ? "" : " (of the first " + std::to_string(t.locks) + " locks)";
  const std::string most = t.most_used + " has had " + std::to_string(t.sequence) + " nodes";
  if (t.sequence >= sequence_limit)
    return {"sequences", grade::bad,
            most + " of at most 2147483647: every acquire of this lock is refused as exhausted" +
                of,
            "delete its node while no client holds or wants it; the next acquire creates it again"};
  if (t.sequence >= sequence_high)
    return {"sequences", grade::warn, most + " of at most 2147483647" + of,
            "delete its node while no client holds or wants it; from 2147473647 on every acquire "
            "is refused"};
  if (t.most_used.empty()) return {"sequences", grade::good, "no lock has been used yet", {}};
  return {"sequences",
          grade::good,
          most + " of at most 2147483647; no other lock has had more" + of,
          {}};
}

finding grade_nodes(const ensemble_facts& f) {
  const tree_facts& t = f.tree;
  if (t.unread.code) return unread("nodes", f);
  if (t.odd.empty())
    return {"nodes",
            grade::good,
            std::to_string(t.locks) + " locks are under " + t.root +
                (t.are_all ? ", and nothing else" : ", or more"),
            {}};
  return {"nodes", grade::warn,
          "nodes under " + t.root +
              " that are not locks, or are also used for other data: " + list_of(t.odd),
          "keep the locks under a node of their own, and name it in the URL: "
          "zookeeper://host/locks"};
}

finding grade_clock(const ensemble_facts& f) {
  const tree_facts& t = f.tree;
  if (t.unread.code) return unread("clock", f);
  if (!t.clock)
    return {"clock", grade::warn, "not known: no node could be created to read the leader's clock",
            "see rights"};
  const duration offset = t.clock->offset < 0ms ? -t.clock->offset : t.clock->offset;
  const std::string text = "the leader's clock is " + ms_text(offset) +
                           (t.clock->offset < 0ms ? " behind" : " ahead of") + " this machine's";
  if (offset - t.clock->trip / 2 <= offset_max) return {"clock", grade::good, text, {}};
  return {"clock", grade::warn,
          text + ": no lease depends on it, but the shown hold times are wrong",
          "let NTP keep both clocks"};
}

finding grade_latency(const ensemble_facts& f) {
  const tree_facts& t = f.tree;
  if (t.unread.code || t.trips.empty()) return unread("latency", f);
  const auto [least, most] = std::ranges::minmax_element(t.trips);
  const std::string text = std::to_string(t.trips.size()) + " round trips took " + ms_text(*least) +
                           " to " + ms_text(*most);
  if (*most > f.op_timeout / 2)
    return {"latency", grade::bad,
            text + ", more than half of the op-timeout: requests end with an unknown outcome",
            "move the client nearer to the servers, or raise op-timeout="};
  if (*most <= trip_max) return {"latency", grade::good, text, {}};
  return {"latency", grade::warn, text + ": each acquire and hand-over takes as long",
          "move the client nearer to the servers, or find what keeps them busy"};
}

std::vector<finding> grade_all(const ensemble_facts& f) {
  return {grade_servers(f),     grade_leader(f),    grade_version(f),   grade_timeouts(f),
          grade_connections(f), grade_sessions(f),  grade_transport(f), grade_rights(f),
          grade_acl(f),         grade_sequences(f), grade_nodes(f),     grade_clock(f),
          grade_latency(f)};
}

}  // namespace holdfast::zookeeper
