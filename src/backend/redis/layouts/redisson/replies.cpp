#include "backend/redis/layouts/redisson/replies.hpp"

#include <algorithm>

#include "backend/redis/layouts/redisson/names.hpp"
#include "backend/redis/server_time.hpp"

namespace holdfast::redis::redisson {

std::span<const error_meaning> errors_of_scripts() noexcept {
  static constexpr error_meaning all[] = {
      bad_type,
      {"OTHERKIND", errc::mismatch, false, false,
       "a name is one kind of lock everywhere; choose another name for this one, or "
       "?layout=redisson-rw"},
      bad_token,
  };
  return all;
}

std::string counter_of(std::string_view key) { return prefixed("redisson_lock_token", key); }

retrying_reply read_try(const value& v, retrying_reply r) {
  using verdict = retrying_reply::verdict;
  if (v.is(value::kind::error)) return refused_by(v.text(), errors_of_scripts(), r);
  if (!v.is(value::kind::array) || v.size() != 2) return unreadable(r);
  const std::int64_t rest_or_number = v[1].integer();
  if (v[0].integer() != 1) {
    r.what = verdict::busy;
    r.rest = span_of(rest_or_number);
    return r;
  }
  if (rest_or_number < 1 || rest_or_number > number_max) return unreadable(r);
  r.what = verdict::granted;
  r.number = rest_or_number;
  return r;
}

std::vector<holder> read_holders(const value& v) {
  constexpr std::int64_t waiting_max = 1 << 30;
  std::vector<holder> out;
  const duration rest = span_of(v.size() > 0 ? v[0].integer() : -1);
  for (std::size_t i = 2; i + 1 < v.size(); i += 2) {
    holder& h = out.emplace_back(holder_of(v[i].text(), rest));
    h.waiting = static_cast<int>(std::clamp<std::int64_t>(v[1].integer(), -1, waiting_max));
  }
  return out;
}

}  // namespace holdfast::redis::redisson
