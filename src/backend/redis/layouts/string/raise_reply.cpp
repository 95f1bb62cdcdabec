// The counter of layout `string` is raised to the server's clock before numbers are believed.
#include "backend/redis/layouts/string/raise_reply.hpp"

#include <algorithm>

#include "claim/recipes/back_off.hpp"

namespace holdfast::redis {

using verdict = reply::verdict;

void string_layout::raise(time_point now) {
  if (is_raising_) return;
  is_raising_ = over_->submit(*raise_reply_, now, [&](request_writer& w) {
    append_raise_counter(w.out(), floor_.last());
  });
}

// The server put it off.
void string_layout::raise_later(time_point now) {
  const duration pause =
      claims::doubled(claims::failed_pause_min, raises_, claims::failed_pause_max);
  ++raises_;
  raise_at_ = now + core::jittered(env(), pause, 0.25);
  over_->tick_by(raise_at_);
}

void string_layout::raise_if_due(time_point now) {
  if (raise_at_ > now) return over_->tick_by(raise_at_);
  raise_at_ = core::never;
  const bool is_wanted = std::ranges::any_of(deferred_, [&](claims::claim_handle p) {
    const claim* const c = claims_.at(p);
    return c && grant_rules::needs_floor(c->deferred, c->recipe().mode());
  });
  if (is_wanted && over_->is_ready(lane::commands) && !floor_.is_known()) raise(now);
}

void string_layout::raise_reply::on_reply(const value& v, const reply_context& c) {
  home_.is_raising_ = false;
  if (v.is(value::kind::error) || v.size() != 2) {
    const reply r = read_error(v, {});
    if (r.what != verdict::not_now)
      return home_.fail_unproven({r.why, explain_reply(v.text())}, c.now, c.events);
    home_.put_off(explain_reply(v.text()), c.now);
    return home_.raise_later(c.now);
  }
  home_.raises_ = 0;
  const std::int64_t floor = v[0].integer();
  home_.over_->note_clock(c.sent, server_time_of(v[1].integer()), c.now);
  if (!grant_rules::is_floor_believed(floor, home_.over_->clock())) {
    const std::string error = std::string(counter_ahead) + ' ' + std::string(counter_key);
    return home_.fail_unproven({errc::refused, explain_reply(error)}, c.now, c.events);
  }
  home_.floor_.raise(floor);
  home_.send_deferred(c.now);
}

}  // namespace holdfast::redis
