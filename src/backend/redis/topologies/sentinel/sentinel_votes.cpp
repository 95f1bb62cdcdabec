#include "backend/redis/topologies/sentinel/sentinel_votes.hpp"

#include <algorithm>
#include <set>

#include "backend/redis/topologies/failed_servers.hpp"
#include "backend/redis/topologies/majority.hpp"
#include "base/mutant.hpp"

namespace holdfast::redis {

using base::mutant;
using base::planted;

namespace {

struct opinion {
  std::string_view sentinel;  // as it is connected to
  const sentinel_answer* answer;
};

// One sentinel has one vote, under however many addresses the URL names it.
std::vector<opinion> votes_of(std::span<const sentinel_state> all) {
  std::vector<opinion> out;
  for (const sentinel_state& s : all) {
    if (!s.answer) continue;
    const auto is_same = [&](const opinion& v) { return v.answer->id == s.answer->id; };
    if (s.answer->id.empty() || std::ranges::none_of(out, is_same) ||
        planted(mutant::sentinel_votes_twice))
      out.push_back({s.address, &*s.answer});
  }
  return out;
}

// Each sentinel lists all the others, also those that are down. One that has not answered may be in
// such a list under another address, so it only counts where there is no list.
std::size_t known_sentinels(std::span<const sentinel_state> all, std::span<const opinion> votes) {
  std::set<std::string_view> ids;
  bool is_listed = false;
  for (const opinion& v : votes) {
    ids.insert(v.answer->id.empty() ? v.sentinel : std::string_view(v.answer->id));
    is_listed = is_listed || v.answer->others;
    if (v.answer->others)
      for (const sentinel_peer& p : *v.answer->others) ids.insert(p.id);
  }
  const auto in_url = std::ranges::count_if(all, &sentinel_state::is_in_url);
  return is_listed ? ids.size() : std::max(ids.size(), static_cast<std::size_t>(in_url));
}

std::string faults_of(std::span<const sentinel_state> all) {
  failed_servers out;
  for (const sentinel_state& s : all)
    if (!s.answer) out.add(s.address, s.fault.empty() ? "no answer yet" : s.fault);
  return out.list();
}

std::string answers_of(std::span<const opinion> votes) {
  std::string out;
  for (const opinion& v : votes) {
    out.append(out.empty() ? "" : ", ").append(v.sentinel);
    if (v.answer->master) {
      out += " names " + base::text_of(*v.answer->master) + " (config-epoch " +
             std::to_string(v.answer->epoch) + ')';
    } else {
      out += " knows no such master";
    }
  }
  return out;
}

std::string monitored_by(std::span<const opinion> votes) {
  std::string out;
  for (const opinion& v : votes) {
    out.append(out.empty() ? "" : "; ").append(v.sentinel);
    out += v.answer->monitored.empty() ? " monitors none" : " monitors " + v.answer->monitored;
  }
  return out;
}

// The address that most of them name, of those that one with the highest epoch names.
std::pair<std::size_t, std::optional<base::address>> most_named(std::span<const opinion> votes) {
  std::uint64_t newest = 0;
  for (const opinion& v : votes)
    if (v.answer->master) newest = std::max(newest, v.answer->epoch);
  std::pair<std::size_t, std::optional<base::address>> best;
  for (const opinion& v : votes) {
    const bool is_newest = v.answer->epoch == newest || planted(mutant::older_epoch_believed);
    if (!v.answer->master || !is_newest) continue;
    const std::string address = base::text_of(*v.answer->master);
    const auto count = static_cast<std::size_t>(std::ranges::count_if(votes, [&](const opinion& w) {
      return w.answer->master && base::text_of(*w.answer->master) == address;
    }));
    if (count > best.first) best = {count, v.answer->master};
  }
  return best;
}

}  // namespace

sentinel_verdict judge(std::span<const sentinel_state> all, std::string_view name) {
  const std::vector<opinion> votes = votes_of(all);
  sentinel_verdict out;
  out.known = known_sentinels(all, votes);
  out.answered = votes.size();
  out.needed = majority_of(out.known);
  const std::string quoted = '"' + std::string(name) + '"';
  if (out.answered < out.needed && !planted(mutant::one_sentinel_suffices)) {
    out.why = {errc::unavailable,
               std::to_string(out.answered) + " of " + std::to_string(out.known) +
                   " sentinels can be asked for the master " + quoted + ", and " +
                   std::to_string(out.needed) + " are needed: " + faults_of(all)};
    if (votes.size() > 0)
      out.why.text += "; SENTINEL RESET makes the others forget those that were removed for good";
    return out;
  }
  const auto [count, master] = most_named(votes);
  const auto strangers = static_cast<std::size_t>(
      std::ranges::count_if(votes, [](const opinion& v) { return !v.answer->master; }));
  if (master && (count >= out.needed || planted(mutant::one_sentinel_suffices))) {
    out.master = master;
  } else if (strangers >= out.needed) {
    out.why = {errc::bad_url, "the sentinels know no master named " + quoted + ": " +
                                  monitored_by(votes) + "; the path of the URL is that name"};
  } else {
    out.why = {errc::unavailable,
               "the sentinels do not agree on the master " + quoted + ": " + answers_of(votes) +
                   "; a failover may be under way, or they are of several deployments"};
  }
  return out;
}

std::string priority_fault(std::span<const sentinel_state> all, std::size_t needed) {
  if (needed == 0) return {};
  for (const sentinel_state& s : all) {
    if (!s.answer) continue;
    std::vector<known_replica> promotable;
    for (const known_replica& r : s.answer->replicas)
      if (r.priority != 0) promotable.push_back(r);
    if (needed >= promotable.size()) continue;  // whichever is promoted has confirmed
    const auto [least, most] = std::ranges::minmax(promotable, {}, &known_replica::priority);
    if (least.priority == most.priority || planted(mutant::preferred_replica_ignored)) continue;
    return "replicas=" + std::to_string(needed) +
           " guarantees nothing here: " + base::text_of(least.at) + " has replica-priority " +
           std::to_string(least.priority) + " and would be promoted even if it lags behind " +
           base::text_of(most.at) + ", which has " + std::to_string(most.priority) +
           "; give all the same one, or replicas=" + std::to_string(promotable.size());
  }
  return {};
}

}  // namespace holdfast::redis
