#include "backend/redis/topologies/sentinel/sentinel_votes.hpp"

#include <algorithm>
#include <set>

#include "backend/redis/topologies/several_servers.hpp"
#include "base/mutant.hpp"

namespace holdfast::redis {

using base::mutant;
using base::planted;

namespace {

struct opinion {
  std::string_view sentinel, id;  // as it is connected to, and as the others know it
  const sentinel_answer* answer;
};

// The others know it by its id, also where it may not be asked for that.
std::string_view id_of(const sentinel_state& s, std::span<const sentinel_state> all) {
  if (!s.answer->id.empty()) return s.answer->id;
  for (const sentinel_state& other : all)
    if (other.answer && other.answer->others)
      for (const sentinel_peer& p : *other.answer->others)
        if (base::text_of(p.at) == s.address) return p.id;
  return s.address;
}

// One sentinel has one vote, under however many addresses the URL names it.
std::vector<opinion> votes_of(std::span<const sentinel_state> all) {
  std::vector<opinion> out;
  for (const sentinel_state& s : all) {
    if (!s.answer) continue;
    const std::string_view id = id_of(s, all);
    const bool is_new = std::ranges::find(out, id, &opinion::id) == out.end();
    if (is_new || planted(mutant::sentinel_votes_twice)) out.push_back({s.address, id, &*s.answer});
  }
  return out;
}

// Each sentinel lists all the others, also those that are down. One that has not answered may be in
// such a list under another address, so it only counts where there is no list.
std::size_t known_sentinels(std::span<const sentinel_state> all, std::span<const opinion> votes) {
  std::set<std::string_view> ids;
  bool is_listed = false;
  for (const opinion& v : votes) {
    ids.insert(v.id);
    is_listed = is_listed || v.answer->others;
    if (v.answer->others)
      for (const sentinel_peer& p : *v.answer->others) ids.insert(p.id);
  }
  const auto in_url =
      static_cast<std::size_t>(std::ranges::count_if(all, &sentinel_state::is_in_url));
  return is_listed ? ids.size() : std::max(ids.size(), in_url);
}

// The first lasting fault, where such faults leave no majority; else errc::unavailable.
std::error_code lasting_fault(std::span<const sentinel_state> all, std::size_t most_failed) {
  const auto is_lasting = [](const sentinel_state& s) {
    return !s.answer && s.fault.code && s.fault.code != errc::unavailable;
  };
  const auto found = std::ranges::find_if(all, is_lasting);
  const auto count = static_cast<std::size_t>(std::ranges::count_if(all, is_lasting));
  return count > most_failed ? found->fault.code : std::error_code(errc::unavailable);
}

std::string faults_of(std::span<const sentinel_state> all) {
  failed_servers out;
  for (const sentinel_state& s : all)
    if (!s.answer) out.add(s.address, s.fault.code ? s.fault.text : "no answer yet");
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

struct differing {
  std::size_t promotable = 0;
  std::string text;
};

std::optional<differing> differing_priorities(const sentinel_state& s) {
  if (!s.answer) return std::nullopt;
  std::vector<known_replica> promotable;
  for (const known_replica& r : s.answer->replicas)
    if (r.priority != 0) promotable.push_back(r);
  if (promotable.empty()) return std::nullopt;
  const auto [least, most] = std::ranges::minmax(promotable, {}, &known_replica::priority);
  if (least.priority == most.priority) return std::nullopt;
  return differing{promotable.size(), base::text_of(least.at) + " has replica-priority " +
                                          std::to_string(least.priority) +
                                          " and would be promoted even if it lags behind " +
                                          base::text_of(most.at) + ", which has " +
                                          std::to_string(most.priority)};
}

std::uint64_t newest_epoch(std::span<const opinion> votes) {
  std::uint64_t newest = 0;
  for (const opinion& v : votes)
    if (v.answer->master) newest = std::max(newest, v.answer->epoch);
  return newest;
}

// The address that most of them name, of those that one with the highest epoch names.
std::pair<std::size_t, std::optional<base::address>> most_named(std::span<const opinion> votes) {
  const std::uint64_t newest = newest_epoch(votes);
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
    out.why = {lasting_fault(all, out.known - out.needed),
               std::to_string(out.answered) + " of " + std::to_string(out.known) +
                   " sentinels can be queried for the master " + quoted + ", and " +
                   std::to_string(out.needed) + " are needed: " + faults_of(all)};
    if (!votes.empty())
      out.why.text += "; SENTINEL RESET makes the others forget those that were removed for good";
    return out;
  }
  const auto [count, master] = most_named(votes);
  const auto strangers = static_cast<std::size_t>(
      std::ranges::count_if(votes, [](const opinion& v) { return !v.answer->master; }));
  if (master && (count >= out.needed || planted(mutant::one_sentinel_suffices))) {
    out.master = master;
    out.epoch = newest_epoch(votes);
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
    const auto differing = differing_priorities(s);
    // Where all have confirmed, whichever is promoted has.
    if (!differing || needed >= differing->promotable || planted(mutant::preferred_replica_ignored))
      continue;
    return "replicas=" + std::to_string(needed) + " guarantees nothing here: " + differing->text +
           "; give all the same replica-priority, or replicas=" +
           std::to_string(differing->promotable);
  }
  return {};
}

std::vector<finding> findings_of(std::span<const sentinel_state> all, std::string_view name) {
  const sentinel_verdict v = judge(all, name);
  std::vector<finding> out;
  const std::string counts =
      std::to_string(v.answered) + " of " + std::to_string(v.known) + " sentinels answer";
  if (v.why.code) {
    out.push_back({"sentinels", finding_grade::bad, v.why.text, "a client that opens now fails"});
  } else if (v.answered < v.known) {
    out.push_back({"sentinels", finding_grade::warn, counts + ": " + faults_of(all),
                   "start the others, or run SENTINEL RESET if they were removed for good"});
  } else if (v.known < 3) {
    out.push_back({"sentinels", finding_grade::warn,
                   counts + ": without one of them no majority is left, and no failover",
                   "run three or more, on machines that fail independently"});
  } else {
    out.push_back(
        {"sentinels", finding_grade::good, counts + " and name " + base::text_of(*v.master), {}});
  }
  for (const sentinel_state& s : all)
    if (const auto differing = differing_priorities(s)) {
      out.push_back({"sentinels", finding_grade::warn, differing->text,
                     "give all replicas the same replica-priority"});
      break;
    }
  return out;
}

}  // namespace holdfast::redis
