#include "backend/redis/transport/error_text.hpp"

#include <algorithm>

#include "backend/redis/transport/resp.hpp"
#include "backend/redis/transport/server_info.hpp"

namespace holdfast::redis {

namespace {

constexpr const char* of_cluster =
    "this is a node of a cluster; open the cluster as redis+cluster://host:port";

constexpr const char* of_slot_on_its_way =
    "the slot of this lock is on its way to another server; redis-cli --cluster fix ends a move "
    "that was left half-way";

constexpr error_meaning meanings[] = {
    {"LOADING", errc::unavailable, true, true, "the server is loading its data; wait for it"},
    {"READONLY", errc::unavailable, true, true, "this is a replica; name its master in the URL"},
    {"MASTERDOWN", errc::unavailable, true, true, "a replica has lost its master"},
    {"CLUSTERDOWN", errc::unavailable, true, false, "a slot of the cluster has no working master"},
    {"NOREPLICAS", errc::unavailable, true, false, "too few replicas are in sync"},
    {"MISCONF", errc::unavailable, true, false,
     "the server cannot write to its disk; free some space"},
    {"OOM", errc::unavailable, true, false, "the server is out of memory; raise its maxmemory"},
    {"BUSY", errc::unavailable, true, false,
     "a long script runs on the server; SCRIPT KILL ends it"},
    {"NOAUTH", errc::refused, false, false,
     "the server requires a password; set it in the URL with ?password-file= or ?password-env="},
    {"WRONGPASS", errc::refused, false, false, "the user or the password is wrong"},
    {"NOPERM", errc::refused, false, false,
     "this user may not do that; docs/backends/redis.md lists the rights that holdfast needs"},
    {"CROSSSLOT", errc::refused, false, false, of_cluster},
    {"MOVED", errc::refused, false, false, of_cluster},
    {"ASK", errc::unavailable, true, false, of_slot_on_its_way},
    {"TRYAGAIN", errc::unavailable, true, false, of_slot_on_its_way},
    {"UNBLOCKED", errc::unavailable, true, false, "the server has become a replica"},
};

// It has no code of its own.
constexpr std::string_view wait_at_replica = "ERR WAIT cannot be used with replica";
constexpr error_meaning waits_at_replica{"ERR", errc::unavailable, true, false,
                                         "this is a replica; name its master in the URL"};

// Of a command in a script: Redis 6.0 and 7.0, and later versions. They have the code ERR.
constexpr std::string_view denied_to_script[] = {"The user executing the script can't ",
                                                 "ACL failure in script"};
constexpr std::string_view denied_code = "NOPERM";

// Redis 6.0 or later, and earlier versions. Neither has a code of its own.
constexpr std::string_view without_password[] = {"ERR AUTH <password> called without any password",
                                                 "ERR Client sent AUTH, but no password is set"};
constexpr error_meaning
    no_password_needed{"ERR", errc::refused, false, false,
                       "this server has no password; leave the password out of the URL"};

// A transaction that was refused when it was to run names the reason behind its own code.
constexpr std::string_view aborted_because = "EXECABORT Transaction discarded because of: ";
// Before Redis 7.0, so does a script whose command was refused, "ERR Error running script (call to
// f_...): @user_script: 11: -OOM ...", and one that returns what it has caught, "@user_script: 8:
// -READONLY ...".
constexpr std::string_view script_failed = "ERR Error running script (call to f_";
constexpr std::string_view in_script = "@user_script:";

std::string_view code_of(std::string_view text) {
  if (text.starts_with(aborted_because)) text.remove_prefix(aborted_because.size());
  if (text.starts_with(script_failed))
    text.remove_prefix(std::min(text.find(in_script), text.size()));
  while (text.starts_with(in_script)) {
    text.remove_prefix(in_script.size());
    text.remove_prefix(std::min(text.find_first_not_of(" 0123456789:"), text.size()));
  }
  if (text.starts_with('-')) text.remove_prefix(1);
  return text.substr(0, text.find(' '));
}

}  // namespace

const error_meaning* meaning_of(std::string_view text,
                                std::span<const error_meaning> more) noexcept {
  for (const std::string_view start : without_password)
    if (text.starts_with(start)) return &no_password_needed;
  if (text.starts_with(wait_at_replica)) return &waits_at_replica;
  const bool is_denied = std::ranges::any_of(denied_to_script, [&](std::string_view part) {
    return text.find(part) != text.npos;
  });
  const std::string_view code = is_denied ? denied_code : code_of(text);
  for (const auto table : {std::span<const error_meaning>(meanings), more})
    for (const error_meaning& m : table)
      if (m.code == code) return &m;
  return nullptr;
}

namespace {

// Reads an error, or one in an array.
template <class Test>
bool has_error(const value& v, Test test) noexcept {
  if (v.is(value::kind::error)) return test(v.text());
  value part = v[0];
  for (std::size_t n = v.size(); n > 0; --n, part = part.next())
    if (part.is(value::kind::error) && test(part.text())) return true;
  return false;
}

}  // namespace

bool puts_data_in_doubt(std::string_view text) noexcept {
  const error_meaning* const m = text.empty() ? nullptr : meaning_of(text);
  return m && m->doubts_data;
}

bool puts_data_in_doubt(const value& v) noexcept {
  return has_error(v, [](std::string_view text) { return puts_data_in_doubt(text); });
}

bool is_of_replica(std::string_view text) noexcept {
  const std::string_view code = code_of(text);
  return code == "READONLY" || code == "MASTERDOWN" || code == "UNBLOCKED" ||
         text.starts_with(wait_at_replica);
}

bool is_of_replica(const value& v) noexcept {
  return has_error(v, [](std::string_view text) { return is_of_replica(text); });
}

bool is_redirection(const value& v) noexcept {
  return v.is_error("MOVED") || v.is_error("ASK") || v.is_error("TRYAGAIN");
}

// An error of a command that a script called has other text before it: what the script did before
// stays.
std::optional<not_executed> not_executed_by(const value& v, std::string_view aborted) noexcept {
  if (!v.is(value::kind::error)) return std::nullopt;
  const std::string_view text = v.is_error("EXECABORT") ? aborted : v.text();
  const std::string_view code = text.substr(0, text.find(' '));
  if (code == "NOSCRIPT") return not_executed::script_missing;
  if (code == "MOVED") return not_executed::moved;
  if (code == "ASK") return not_executed::ask;
  if (code == "TRYAGAIN") return not_executed::try_again;
  return std::nullopt;
}

// "NOPERM ... to access one of the keys ...", since 7.2 "NOPERM No permissions to access a key".
bool is_key_denied(const value& v) noexcept {
  if (!v.is_error("NOPERM")) return false;
  const auto text = v.text();
  return text.find("access ") != std::string::npos && text.find(" key") != std::string::npos;
}

std::string explain(std::string_view text, std::span<const error_meaning> more) {
  std::string out = "the server answered \"" + printable(text, 200) + '"';
  if (const error_meaning* const m = meaning_of(text, more)) out.append(": ").append(m->what_to_do);
  return out;
}

}  // namespace holdfast::redis
