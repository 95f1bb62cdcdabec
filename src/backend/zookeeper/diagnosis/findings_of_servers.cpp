// Findings from the servers' reports and their sessions.
#include <algorithm>
#include <array>
#include <charconv>

#include "backend/zookeeper/diagnosis/findings.hpp"

namespace holdfast::zookeeper {

namespace {

using namespace std::chrono_literals;
using grade = finding_grade;

std::string printable(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, 100)) out += c < ' ' || c > '~' ? '?' : c;
  return out;
}

// The value of a line "LABEL: VALUE" of srvr.
std::string_view line_of(std::string_view text, std::string_view label) {
  const std::size_t at = text.find(label);
  if (at == text.npos) return {};
  text.remove_prefix(at + label.size());
  return text.substr(0, text.find('\n'));
}

using version = std::array<int, 3>;  // major, minor, patch

version version_of(std::string_view text) {
  version out{};
  for (int& part : out) {
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), part);
    if (fault != std::errc()) break;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (!text.starts_with('.')) break;
    text.remove_prefix(1);
  }
  return out;
}

// ZOOKEEPER-4537.
constexpr bool parks_replies(const version& v) {
  return v == version{3, 8, 0} || (v >= version{3, 7, 0} && v < version{3, 7, 2});
}

template <class Which>
std::string names_of(const ensemble_facts& f, Which which) {
  std::string out;
  for (const server_facts& s : f.servers)
    if (which(s)) out.append(out.empty() ? "" : ", ").append(s.name);
  return out;
}

bool is_limited(const server_facts& s) {  // by maxClientCnxns: it takes a connection and ends it
  return !s.serves() && s.srvr.empty() && s.was_open;
}

}  // namespace

std::string ms_text(duration d) {
  return std::to_string(std::chrono::round<std::chrono::milliseconds>(d).count()) + " ms";
}

finding grade_servers(const ensemble_facts& f) {
  const auto all = f.servers.size();
  const auto up = static_cast<std::size_t>(std::ranges::count_if(f.servers, &server_facts::serves));
  const std::string count = std::to_string(up) + " of " + std::to_string(all);
  std::string why;
  for (const server_facts& s : f.servers)
    if (!s.serves())
      why +=
          "; " + s.name + ": " + printable(s.unreached.code ? s.unreached.text : s.no_session.text);
  if (up == 0)
    return {"servers", grade::bad,
            "none of the servers of the URL serves, so no lock is granted or confirmed" + why,
            "bring back a majority of the ensemble; see the servers' logs"};
  if (up < all)
    return {"servers", grade::warn, count + " servers of the URL serve" + why,
            "bring the others back: with a majority gone no lock is granted or confirmed"};
  if (f.servers.front().mode == server_mode::standalone)
    return {
        "servers", grade::warn,
        "a single server: while it is down no lock is granted, and leases end with their sessions",
        "run an ensemble of three"};
  if (all == 1)
    return {"servers", grade::warn,
            "the URL names one server of an ensemble: while that one is down no lock is granted",
            "name the others too, with commas between them"};
  const std::string observing =
      names_of(f, [](const server_facts& s) { return s.mode == server_mode::observer; });
  return {"servers",
          grade::good,
          count + " servers of the URL serve" +
              (observing.empty() ? "" : "; " + observing + " observes and has no vote"),
          {}};
}

finding grade_leader(const ensemble_facts& f) {
  const auto leading = [](const server_facts& s) { return leads(s.mode); };
  const std::string leaders = names_of(f, leading);
  const std::string silent = names_of(f, [](const server_facts& s) {
    return s.serves() && s.mode == server_mode::unknown;
  });
  const auto refusing = std::ranges::find_if(f.servers, [&](const server_facts& s) {
    return leading(s) && !s.serves();
  });
  if (refusing != f.servers.end())
    return {"leader", f.attach == attach_to::leader ? grade::bad : grade::warn,
            refusing->name + " leads but accepts no session (leaderServes=no, or " +
                printable(refusing->no_session.text) +
                "): sessions are renewed by new connections, and attach=leader finds none",
            "set leaderServes=yes, or leave attach=leader out"};
  if (!leaders.empty())
    return {"leader",
            grade::good,
            leaders + (f.attach == attach_to::leader
                           ? " leads: sessions are attached there and renewed by their writes"
                           : " leads; sessions are renewed by new connections (attach=any)"),
            {}};
  if (!silent.empty())
    return {"leader", grade::warn,
            "not known: srvr is not answered by " + silent +
                ", so that attach=leader has no effect there",
            "allow it: 4lw.commands.whitelist=srvr"};
  return {"leader", f.attach == attach_to::leader ? grade::bad : grade::warn,
          "none of the servers of the URL leads: sessions are renewed by new connections",
          "name all servers of the ensemble"};
}

finding grade_version(const ensemble_facts& f) {
  std::string names, old, parking, last;
  for (const server_facts& s : f.servers) {
    const std::string_view text = line_of(s.srvr, "Zookeeper version: ");
    if (text.empty()) continue;
    const std::string word = printable(text.substr(0, text.find_first_of("-, ")));
    const version v = version_of(text);
    if (word != last) names.append(names.empty() ? "ZooKeeper " : ", ").append(word);
    last = word;
    if (v < version{3, 5, 0}) old = word;
    if (parks_replies(v)) parking = word;
  }
  if (names.empty())
    return {"version", grade::warn, "not known: no server answers srvr",
            "allow it: 4lw.commands.whitelist=srvr"};
  if (!old.empty())
    return {"version", grade::bad, names + ": " + old + " has no containers, which locks need",
            "use ZooKeeper 3.8.1 or later"};
  if (!parking.empty())
    return {"version", grade::warn,
            names + ": a quiet follower of " + parking +
                " may keep a reply back until the next request (ZOOKEEPER-4537); holdfast sends a "
                "ping after 200 ms, other clients may hang",
            "use 3.7.2, 3.8.1 or later"};
  return {"version", grade::good, names, {}};
}

finding grade_timeouts(const ensemble_facts& f) {
  const server_facts* first = nullptr;
  std::string bounds;
  bool differ = false;
  for (const server_facts& s : f.servers) {
    if (s.longest == duration{}) continue;
    bounds.append(bounds.empty() ? "" : ", ")
        .append(s.name + " " + ms_text(s.shortest) + " to " + ms_text(s.longest));
    if (!first) first = &s;
    differ = differ || s.shortest != first->shortest || s.longest != first->longest;
  }
  if (!first)
    return {"timeouts", grade::warn, "not known: no server grants a session",
            "examine it again once one does"};
  if (differ)
    return {"timeouts", grade::bad,
            "the servers grant different session timeouts (" + bounds +
                "): a session that moves to another one is given up, and its locks are lost",
            "set the same tickTime, minSessionTimeout and maxSessionTimeout on all servers"};
  const std::string range = ms_text(first->shortest) + " to " + ms_text(first->longest);
  if (f.asked < first->shortest || f.asked > first->longest)
    return {"timeouts", grade::warn,
            "the servers grant " + range + ", the URL requests " + ms_text(f.asked) +
                ": sessions get " + ms_text(std::clamp(f.asked, first->shortest, first->longest)),
            "set session-timeout= within these bounds, or min/maxSessionTimeout at the servers"};
  return {"timeouts", grade::good, "all servers grant " + range, {}};
}

finding grade_connections(const ensemble_facts& f) {
  const std::string limited = names_of(f, is_limited);
  if (!limited.empty())
    return {"connections", grade::bad,
            limited + " accepts a connection and closes it without a reply, as when maxClientCnxns "
                      "is reached for this address: no session can move there",
            "raise maxClientCnxns (0: no limit), or run fewer clients on this machine"};
  const std::string silent = names_of(f, [](const server_facts& s) { return !s.serves(); });
  if (!silent.empty())
    return {"connections", grade::warn,
            "not known of " + silent + ", where no session could be opened",
            "examine it again once the server accepts sessions"};
  std::string counts;
  for (const server_facts& s : f.servers) {
    const std::string_view n = line_of(s.srvr, "\nConnections: ");
    if (!n.empty())
      counts.append(counts.empty() ? "" : ", ").append(s.name + " has " + printable(n));
  }
  return {"connections",
          grade::good,
          "each server accepted one more connection from this address" +
              (counts.empty() ? std::string() : " (" + counts + ")"),
          {}};
}

finding grade_sessions(const ensemble_facts& f) {
  const std::string local =
      names_of(f, [](const server_facts& s) { return s.has_local_sessions.value_or(false); });
  if (!local.empty())
    return {"sessions", grade::warn,
            "localSessionsEnabled at " + local +
                ": a session is the ensemble's with its first lock only, and cannot move before; "
                "without localSessionsUpgradingEnabled every lock is refused",
            "set localSessionsEnabled=false"};
  const bool is_known = std::ranges::any_of(f.servers, [](const server_facts& s) {
    return s.has_local_sessions.has_value();
  });
  if (!is_known)
    return {"sessions", grade::warn, "not known: whether localSessionsEnabled is set",
            "check zoo.cfg on each server: localSessionsEnabled should be false"};
  return {"sessions", grade::good, "sessions are made by the whole ensemble", {}};
}

finding grade_transport(const ensemble_facts& f) {
  if (f.has_tls) return {"tls", grade::good, "connections are encrypted, the server verified", {}};
  return {"tls", grade::warn,
          std::string("not encrypted: a reader of the traffic can take over sessions and locks") +
              (f.has_user ? ", and reads the password" : ""),
          "use zookeepers: with the servers' secureClientPort, or a private network"};
}

}  // namespace holdfast::zookeeper
