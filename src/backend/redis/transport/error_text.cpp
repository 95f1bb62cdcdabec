#include "backend/redis/transport/error_text.hpp"

#include "backend/redis/transport/resp.hpp"

namespace holdfast::redis {

namespace {

constexpr error_meaning meanings[] = {
    {"LOADING", errc::unavailable, true, true, "the server is loading its data; wait for it"},
    {"READONLY", errc::unavailable, true, true, "this is a replica; name its master in the URL"},
    {"MASTERDOWN", errc::unavailable, true, true, "a replica has lost its master"},
    {"CLUSTERDOWN", errc::unavailable, true, false, "the cluster is not whole"},
    {"NOREPLICAS", errc::unavailable, true, false, "too few replicas are in sync"},
    {"MISCONF", errc::unavailable, true, false,
     "the server cannot write to its disk; free some space"},
    {"OOM", errc::unavailable, true, false, "the server is out of memory; raise its maxmemory"},
    {"BUSY", errc::unavailable, true, false,
     "a long script runs on the server; SCRIPT KILL ends it"},
    {"NOAUTH", errc::refused, false, false,
     "the server requires a password; give it in the URL, by "
     "?password-file= or ?password-env="},
    {"WRONGPASS", errc::refused, false, false, "the user or the password is wrong"},
    {"NOPERM", errc::refused, false, false,
     "this user may not do that; docs/options.md has the rights "
     "that holdfast needs"},
    {"CROSSSLOT", errc::refused, false, false,
     "this is a cluster; its URL begins with redis+cluster:"},
    {"MOVED", errc::refused, false, false, "this is a cluster; its URL begins with redis+cluster:"},
};

// A transaction that was refused when it was to run names the reason behind its own code.
constexpr std::string_view aborted = "EXECABORT Transaction discarded because of: ";

}  // namespace

const error_meaning* meaning_of(std::string_view text,
                                std::span<const error_meaning> more) noexcept {
  if (text.starts_with(aborted)) text.remove_prefix(aborted.size());
  if (text.starts_with('-')) text.remove_prefix(1);
  const std::string_view code = text.substr(0, text.find(' '));
  for (const auto table : {std::span<const error_meaning>(meanings), more})
    for (const error_meaning& m : table)
      if (m.code == code) return &m;
  return nullptr;
}

bool puts_data_in_doubt(std::string_view text) noexcept {
  const error_meaning* const m = text.empty() ? nullptr : meaning_of(text);
  return m && m->doubts_data;
}

bool puts_data_in_doubt(const value& v) noexcept {
  if (v.is(value::kind::error)) return puts_data_in_doubt(v.text());
  value part = v[0];
  for (std::size_t n = v.size(); n > 0; --n, part = part.next())
    if (part.is(value::kind::error) && puts_data_in_doubt(part.text())) return true;
  return false;
}

// "NOPERM ... to access one of the keys ...", since 7.2 "NOPERM No permissions to access a key".
bool is_key_denied(const value& v) noexcept {
  if (!v.is_error("NOPERM")) return false;
  const auto text = v.text();
  return text.find("access ") != std::string::npos && text.find(" key") != std::string::npos;
}

std::string explain(std::string_view text, std::span<const error_meaning> more) {
  std::string out = "the server answered \"";
  constexpr std::size_t most = 200;
  for (const char c : text.substr(0, most)) out += c < ' ' || c > '~' ? '?' : c;
  out += '"';
  if (const error_meaning* const m = meaning_of(text, more))
    out += std::string(": ") + std::string(m->what_to_do);
  return out;
}

}  // namespace holdfast::redis
