#include "backend/redis/layouts/retrying_codec.hpp"

#include "backend/redis/server_time.hpp"

namespace holdfast::redis {

std::string retrying_codec::text_of(const retrying_owner& o) const {
  return std::string(facts_.owner_prefix) + hex_of(o);
}

bool retrying_codec::is_owner(std::string_view text) const noexcept {
  return text.starts_with(facts_.owner_prefix);
}

retrying_reply retrying_codec::read(const value& v, const lock_request&, retrying_reply r) const {
  const bool asks = r.to == retrying_operation::try_lock || r.to == retrying_operation::resolve;
  if (!asks || v.is(value::kind::error)) return read_compared(v, r);
  if (!v.is(value::kind::array)) return unreadable(r);
  const bool is_ours = v[0].integer() == 1;
  r.what = is_ours ? retrying_reply::verdict::granted : retrying_reply::verdict::busy;
  if (v.size() > 1) r.rest = span_of(v[1].integer());
  return r;
}

retrying_reply retrying_codec::read_compared(const value& v, retrying_reply r) const {
  return v.is(value::kind::error) ? refused_by(v.text(), facts_.own_errors, r) : compared(v, r);
}

void retrying_codec::append_renewals(command_writer& out, std::span<const lock_request> all) const {
  command c = out.call(*facts_.renew, all.size(), 2 * all.size());
  for (const lock_request& r : all) c << r.key;
  for (const lock_request& r : all) c << r.owner << in_ms(r.ttl);
}

retrying_reply retrying_codec::read_renewal(const value& all, std::size_t index,
                                            retrying_reply r) const {
  return all.is(value::kind::error) ? read_compared(all, r) : compared(all[index], r);
}

void retrying_codec::append_holders_query(std::string& out, std::string_view key) const {
  eval(out, *facts_.holders_script, {key});
}

void retrying_codec::append_break(std::string& out, std::string_view key,
                                  std::string_view seen) const {
  eval(out, *facts_.break_lock, {key}, seen);
}

std::vector<holder> retrying_codec::read_holders_reply(const value& v) const {
  if (v.size() != 2) return {};
  return {holder_of(v[0].text(), span_of(v[1].integer()))};
}

bool retrying_codec::read_break(const value& v) const {
  return compared(v, {}).what == retrying_reply::verdict::done;
}

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
  constexpr std::int64_t done = 1, no_owner = 2, done_and_notified = 3;
  if (!v.is(value::kind::integer)) return unreadable(r);
  r.notified_others = v.integer() == done_and_notified;
  const bool is_done = v.integer() == done || r.notified_others;
  r.what = is_done ? retrying_reply::verdict::done : retrying_reply::verdict::not_owner;
  if (v.integer() == no_owner) r.why = errc::not_held;
  return r;
}

holder holder_of(std::string_view owner, duration remaining) {
  holder out;
  out.owner = owner;
  if (remaining != duration::max())
    out.expires_in = std::chrono::floor<std::chrono::milliseconds>(remaining);
  out.waiting = -1;
  return out;
}

}  // namespace holdfast::redis
