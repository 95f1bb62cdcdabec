#include "backend/redis/transport/error_text.hpp"

#include <algorithm>

#include "backend/redis/transport/resp.hpp"

namespace holdfast::redis {

namespace {

enum class lasts : unsigned char {
  until_mended,  // a waiter ends at once
  a_while,       // passes without the client's doing: a waiter waits through it
};

struct meaning {
  std::string_view code;  // the first word of an error
  errc why;
  lasts how_long;
  bool doubts_data;
  std::string_view what_to_do;
};

constexpr meaning meanings[] = {
    {"LOADING", errc::unavailable, lasts::a_while, true,
     "the server is loading its data; wait for it"},
    {"READONLY", errc::unavailable, lasts::a_while, true,
     "this is a replica; name its master in the URL"},
    {"MASTERDOWN", errc::unavailable, lasts::a_while, true, "a replica has lost its master"},
    {"CLUSTERDOWN", errc::unavailable, lasts::a_while, false, "the cluster is not whole"},
    {"NOREPLICAS", errc::unavailable, lasts::a_while, false, "too few replicas are in sync"},
    {"MISCONF", errc::unavailable, lasts::a_while, false,
     "the server cannot write to its disk; free some space"},
    {"OOM", errc::unavailable, lasts::a_while, false,
     "the server is out of memory; raise its maxmemory"},
    {"BUSY", errc::unavailable, lasts::a_while, false,
     "a long script runs on the server; SCRIPT KILL ends it"},
    {"NOAUTH", errc::refused, lasts::until_mended, false,
     "the server wants a password; give it in the URL, by "
     "?password-file= or ?password-env="},
    {"WRONGPASS", errc::refused, lasts::until_mended, false, "the user or the password is wrong"},
    {"NOPERM", errc::refused, lasts::until_mended, false,
     "this user may not do that; docs/options.md has the rights "
     "that holdfast needs"},
    {"BADTYPE", errc::mismatch, lasts::until_mended, false,
     "the lock's key holds something that is no lock; choose "
     "another name, or ?prefix="},
    {other_kind, errc::mismatch, lasts::until_mended, false,
     "a name is one kind of lock everywhere, a mutex (which may be shared) or a semaphore of so "
     "many "
     "permits; choose another name for this one, or make it the same"},
    {"AHEAD", errc::refused, lasts::until_mended, false,
     "the counter holdfast:n runs ahead of the server's clock, "
     "which was set back: numbers could repeat. Wait until "
     "the clock has caught up, or set it right"},
    {"CROSSSLOT", errc::refused, lasts::until_mended, false,
     "this is a cluster; its URL begins with redis+cluster:"},
    {"MOVED", errc::refused, lasts::until_mended, false,
     "this is a cluster; its URL begins with redis+cluster:"},
};

// A transaction that was refused when it was to run names the reason behind its own code.
constexpr std::string_view aborted = "EXECABORT Transaction discarded because of: ";

const meaning* meaning_of(std::string_view text) noexcept {
  if (text.starts_with(aborted)) text.remove_prefix(aborted.size());
  if (text.starts_with('-')) text.remove_prefix(1);
  const std::string_view code = text.substr(0, text.find(' '));
  for (const meaning& m : meanings)
    if (m.code == code) return &m;
  return nullptr;
}

}  // namespace

reply read_error(const value& v, reply r) { return read_error_text(v.text(), r); }

reply read_error_text(std::string_view text, reply r) {
  const meaning* const m = meaning_of(text);
  const bool passes = m && m->how_long == lasts::a_while;
  r.what = passes ? reply::verdict::not_now : reply::verdict::failed;
  r.why = m ? m->why : errc::refused;
  return r;
}

bool puts_data_in_doubt(std::string_view text) noexcept {
  const meaning* const m = text.empty() ? nullptr : meaning_of(text);
  return m && m->doubts_data;
}

bool puts_data_in_doubt(const value& v) noexcept {
  if (v.is(value::kind::error)) return puts_data_in_doubt(v.text());
  value part = v[0];
  for (std::size_t n = v.size(); n > 0; --n, part = part.next())
    if (part.is(value::kind::error) && puts_data_in_doubt(part.text())) return true;
  return false;
}

std::string explain(std::string_view text) {
  const bool ours = text.starts_with(other_kind);
  if (ours) text.remove_prefix(std::min(other_kind.size() + 1, text.size()));
  std::string out = ours ? "" : "the server said \"";
  constexpr std::size_t most = 200;
  for (const char c : text.substr(0, most)) out += c < ' ' || c > '~' ? '?' : c;
  if (ours) return out + ": " + std::string(meaning_of(other_kind)->what_to_do);
  out += '"';
  if (const meaning* const m = meaning_of(text))
    out += std::string(": ") + std::string(m->what_to_do);
  return out;
}

}  // namespace holdfast::redis
