#include "backend/redis/layouts/string/grant_rules.hpp"

#include <algorithm>

#include "base/mutant.hpp"
#include "seam/client_options.hpp"

namespace holdfast::redis {

using base::mutant;
using base::planted;
using namespace std::chrono_literals;

void number_floor::raise(std::int64_t floor) noexcept {
  floor_ = floor;
  last_ = std::max(last_, floor);
}

void number_floor::forget() noexcept {
  if (!planted(mutant::floor_kept)) floor_.reset();
}

bool number_floor::accept(std::int64_t number) noexcept {
  const bool is_above = floor_ && number > *floor_ && number > last_ && number <= number_max;
  if (!is_above && !planted(mutant::floor_kept)) return false;
  last_ = number;
  return true;
}

bool number_floor::is_below(std::int64_t number) const noexcept {
  return floor_ && number > *floor_ && number <= number_max;
}

namespace grant_rules {

namespace {

constexpr duration window_min = 250ms;
constexpr server_time ahead_max = 1s;  // of a number: the server's clock may be corrected by this

}  // namespace

// The reply to these may be a number. (An exclusive claim that sends lock_or_queue has sent
// try_lock before, or sends it when its number proves nothing.)
bool needs_floor(operation op, lock_mode mode) noexcept {
  return op == operation::try_lock || op == operation::lock_all ||
         (op == operation::lock_or_queue && mode != lock_mode::exclusive);
}

namespace {

bool may_grant(operation op) noexcept {
  return op == operation::try_lock || op == operation::lock_all || op == operation::lock_or_queue ||
         op == operation::resolve;
}

}  // namespace

bool may_send(operation op, lock_mode mode, const readiness& r) noexcept {
  if (!r.commands || (may_grant(op) && !r.lanes_agree)) return false;
  if (needs_floor(op, mode) && (!r.floor || r.raising)) return false;
  return op != operation::lock_or_queue || r.messages;
}

duration window(duration ttl, duration round_trip) noexcept {
  return std::min(ttl, std::max(window_min, round_trip * 8));
}

bool is_floor_believed(std::int64_t floor, const server_clock& clock) noexcept {
  const auto seen = clock.last_seen();
  return !seen || floor <= (*seen + ahead_max).count();
}

namespace {

// It was spoilt, or the server's clock was set: smaller numbers would follow it.
bool is_far_ahead(std::int64_t number, const server_clock& clock, time_point now) noexcept {
  const auto latest = clock.latest(now);
  return latest && number > (*latest + ahead_max).count();
}

}  // namespace

reply believe(reply r, number_floor& floor, const server_clock& clock, time_point now) noexcept {
  if (r.what != reply::verdict::granted) return r;
  if (r.stands && r.number > 0 && r.number <= number_max) return r;
  if (!is_far_ahead(r.number, clock, now) && floor.accept(r.number)) return r;
  floor.forget();
  r.what = reply::verdict::bad_number;
  return r;
}

bool is_of_server(std::string_view pushed, std::string_view commands) noexcept {
  return planted(mutant::push_of_another_server) || (!pushed.empty() && pushed == commands);
}

time_point deadline_of(const pushed_grant& g, const number_floor& floor, const server_clock& clock,
                       duration clock_skew, time_point now) noexcept {
  if (!clock.is_fresh(now, g.window) && !planted(mutant::old_sample_accepted)) return base::never;
  const auto from = clock.place(g.at);
  // Later than now: the server's clock was set forward since the sample.
  if (!from || *from > now || !floor.is_below(g.number)) return base::never;
  const time_point end = *from + seam::worth(g.window, clock_skew);
  return end > now ? end : base::never;
}

time_point look_at(server_time at, const server_clock& clock, time_point now) noexcept {
  return clock.place(at).value_or(now) + clock.round_trip();
}

bool is_clock_jump(duration jump, duration ttl) noexcept { return jump > ttl / 10; }

recipient recipient_of(push::kind k, bool is_own_id, bool has_claim) noexcept {
  if (has_claim) return recipient::claim;
  return k == push::kind::grant && is_own_id ? recipient::next_waiter : recipient::nobody;
}

bool may_succeed(const succession& s) noexcept {
  const bool are_exclusive = s.holder == lock_mode::exclusive && s.next == lock_mode::exclusive;
  return are_exclusive && s.next_waits && s.release == operation::release && s.is_ready;
}

}  // namespace grant_rules

}  // namespace holdfast::redis
