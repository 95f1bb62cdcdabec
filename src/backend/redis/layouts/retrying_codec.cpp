#include "backend/redis/layouts/retrying_codec.hpp"

namespace holdfast::redis {

std::string hex_of(const retrying_owner& o) {
  std::string out;
  for (const std::uint64_t half : {o.high, o.low})
    for (int shift = 60; shift >= 0; shift -= 4) out += "0123456789abcdef"[half >> shift & 15];
  return out;
}

retrying_reply refused_by(std::string_view error, std::span<const error_meaning> own_errors,
                          retrying_reply r) {
  const error_meaning* const m = meaning_of(error, own_errors);
  r.what = m && m->is_passing ? retrying_reply::verdict::not_now : retrying_reply::verdict::failed;
  r.why = m ? m->why : errc::refused;
  r.left = error.find("@user_script") != error.npos;  // it stopped where it was
  return r;
}

retrying_reply unreadable(retrying_reply r) noexcept {
  r.what = retrying_reply::verdict::failed;
  r.why = errc::refused;
  r.left = true;
  return r;
}

retrying_reply compared(const value& v, retrying_reply r) {
  constexpr std::int64_t done = 1, no_owner = 2, done_and_told = 3;
  if (!v.is(value::kind::integer)) return unreadable(r);
  r.told_others = v.integer() == done_and_told;
  const bool is_done = v.integer() == done || r.told_others;
  r.what = is_done ? retrying_reply::verdict::done : retrying_reply::verdict::not_owner;
  if (v.integer() == no_owner) r.why = errc::not_held;
  return r;
}

}  // namespace holdfast::redis
