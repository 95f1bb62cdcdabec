#include "backend/redis/layouts/string/reply_errors.hpp"

#include <algorithm>

#include "backend/redis/transport/error_text.hpp"
#include "backend/redis/transport/resp.hpp"

namespace holdfast::redis {

namespace {

constexpr error_meaning errors_of_scripts[] = {
    {other_type, errc::mismatch, false, false,
     "the lock's key holds something that is no lock; choose another name, or ?prefix="},
    {"WRONGTYPE", errc::mismatch, false, false,
     "the lock's key holds something that is no lock; choose another name, or ?prefix="},
    {other_kind, errc::mismatch, false, false,
     "a name is one kind of lock everywhere, a mutex (which may be shared) or a semaphore of so "
     "many permits; choose another name for this one, or make it the same"},
    {counter_ahead, errc::refused, false, false,
     "the counter holdfast:n runs ahead of the server's clock, which was set back: numbers could "
     "repeat. Wait until the clock has caught up, or set it right"},
};

}  // namespace

std::span<const error_meaning> own_errors() noexcept { return errors_of_scripts; }

reply read_error(const value& v, reply r) { return read_error_text(v.text(), r); }

reply read_error_text(std::string_view text, reply r) {
  const error_meaning* const m = meaning_of(text, errors_of_scripts);
  r.what = m && m->is_passing ? reply::verdict::not_now : reply::verdict::failed;
  r.why = m ? m->why : errc::refused;
  return r;
}

std::string explain_reply(std::string_view text) {
  if (!text.starts_with(other_kind)) return explain(text, errors_of_scripts);
  // The server did not say this: the text is our own.
  const error_meaning& m = *meaning_of(other_kind, errors_of_scripts);
  text.remove_prefix(std::min(other_kind.size() + 1, text.size()));
  std::string out;
  constexpr std::size_t most = 200;
  for (const char c : text.substr(0, most)) out += c < ' ' || c > '~' ? '?' : c;
  return out + ": " + std::string(m.what_to_do);
}

}  // namespace holdfast::redis
