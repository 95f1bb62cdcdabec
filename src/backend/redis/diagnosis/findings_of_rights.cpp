// Findings about rights that the server's ACL denies.
#include <algorithm>

#include "backend/redis/diagnosis/findings.hpp"

namespace holdfast::redis {

namespace {

using grade = finding_grade;

struct consequence {
  needed_for what;
  finding_grade how;
  std::string_view text;
};

constexpr consequence consequences[] = {
    {needed_for::locks, grade::bad, "acquires, waits or releases are refused"},
    {needed_for::recovery, grade::warn,
     "a request in flight on a broken connection cannot be canceled; the client withdraws its "
     "owner repeatedly for the ttl and two minutes"},
    {needed_for::comparison, grade::warn,
     "a master that was replaced is not recognized, connections are compared only if the user may "
     "use the channels hf:*, and requests in flight on a broken connection cannot be canceled"},
    {needed_for::inspection, grade::warn,
     "client::list() or holders() fails, and with it holdfast list or holders"},
    {needed_for::cleanup, grade::warn, "what killed holders left is not removed"},
    {needed_for::identification, grade::warn,
     "CLIENT LIST does not show which connections are of locks"},
    {needed_for::scripts, grade::warn, "a script is sent in full when the server does not have it"},
    {needed_for::messages_in_cluster, grade::warn,
     "waiters of Redisson, and of clients that have these rights, are not notified of a release"},
};

enum class denied { nothing, command, key, channel };

// The errors of Redis 6 to 8; the first names the command, the others the key or channel.
denied denied_by(std::string_view refusal) noexcept {
  if (refusal.find("NOPERM") == refusal.npos) return denied::nothing;
  if (refusal.find("to run the ") != refusal.npos) return denied::command;
  if (refusal.find("channel") != refusal.npos) return denied::channel;
  return refusal.find(" key") != refusal.npos ? denied::key : denied::command;
}

std::string allow(const server_facts& f, const std::string& rights) {
  return "ACL SETUSER " + f.user + rights;
}

bool is_denied(const server_facts& f, denied kind) {
  return std::any_of(f.rights.begin(), f.rights.end(),
                     [&](const fact& r) { return denied_by(r.refusal) == kind; });
}

}  // namespace

std::vector<finding> grade_rights(const server_facts& f) {
  if (!f.transactions.is_known() && !f.has_transactions)
    return {{"rights", grade::warn,
             "not known: they are tried in transactions, and this user lacks multi or exec",
             allow(f, " +multi +exec")}};
  if (!f.transactions.is_known())
    return {{"rights", grade::bad,
             "this user lacks multi or exec, without which acquires are refused (" +
                 f.transactions.refusal + "); the rights to other commands are not known then",
             allow(f, " +multi +exec")}};
  if (f.rights.empty())
    return {{"rights", grade::warn, "not known: transactions did not work as expected", {}}};
  std::vector<finding> out;
  for (const consequence& c : consequences) {
    std::string names, grants;
    for (std::size_t i = 0; i < f.required.size() && i < f.rights.size(); ++i) {
      if (f.required[i].what != c.what || denied_by(f.rights[i].refusal) != denied::command)
        continue;
      names.append(names.empty() ? "" : ", ").append(f.required[i].right);
      grants.append(" +").append(f.required[i].right);
    }
    if (!names.empty())
      out.push_back({"rights", c.how, "this user lacks " + names + ": " + std::string(c.text),
                     allow(f, grants)});
  }
  if (!f.counter_key.empty() && is_denied(f, denied::key))
    out.push_back({"rights", grade::bad, "this user cannot access the keys holdfast:*",
                   allow(f, " ~holdfast:*")});
  const std::string to_channels = allow(f, " &" + std::string(f.channels));
  if (is_denied(f, denied::channel) && f.counts_by_lock) {
    out.push_back(
        {"rights", grade::warn,
         "this user cannot reach the channels of all locks: where it cannot, waiters poll",
         to_channels});
  } else if (is_denied(f, denied::channel)) {
    out.push_back(
        {"rights", grade::bad, "this user cannot reach the clients' channels", to_channels});
  }
  if (out.empty())
    out.push_back({"rights", grade::good, "this user may send every command that is needed", {}});
  return out;
}

}  // namespace holdfast::redis
