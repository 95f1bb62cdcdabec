#include <holdfast/election.hpp>

#include <condition_variable>
#include <cstdint>
#include <string>
#include <utility>

#include "base/fail.hpp"
#include "base/mutant.hpp"

namespace holdfast::inline v0 {
namespace {

using namespace std::chrono_literals;
using leader = std::optional<holder>;

bool is_same_term(const leader& a, const leader& b) noexcept {
  if (!a || !b) return a.has_value() == b.has_value();
  return a->owner == b->owner && a->token == b->token && a->note == b->note;
}

// Returns earlier when stop is requested.
void wait(std::chrono::milliseconds interval, const std::stop_token& stop) {
  std::mutex mutex;
  std::unique_lock lock(mutex);
  std::condition_variable_any never;
  never.wait_for(lock, stop, interval, [] { return false; });
}

}  // namespace

const lease& election::run(std::string_view value, detail::acquire_call c) {
  if (c.ec) c.ec->clear();
  if (is_leader() && !base::planted(base::mutant::leader_campaigns_anew)) return term_;
  take_term().unlock();  // a deposed leader must leave before its client is granted the lock again
  const acquire_options options{.note = value};
  c.options = &options;
  const detail::lockable_base& lock = office_;
  return begin_term(lock.acquire_impl(lock_mode::exclusive, std::move(c)));
}

const lease& election::begin_term(lease next) {
  const std::lock_guard guard(mutex_);
  term_ = std::move(next);
  return term_;
}

bool election::is_leader() const noexcept {
  const std::lock_guard guard(mutex_);
  return base::planted(base::mutant::deposed_leader_leads) ? !!term_ : term_.held();
}

// Releasing the lease waits for the store; is_leader() of other threads does not wait for that.
lease election::take_term() noexcept {
  const std::lock_guard guard(mutex_);
  return std::exchange(term_, lease());
}

void election::resign() { take_term().release(); }

void election::resign(std::error_code& ec) noexcept { take_term().release(ec); }

std::optional<holder> election::observe() const {
  for (holder& one : store_.holders(name()))
    if (one.mode == lock_mode::exclusive || base::planted(base::mutant::reader_observed_as_leader))
      return std::move(one);
  return std::nullopt;
}

std::optional<holder> election::observe(std::error_code& ec) const {
  return base::in_either_form(&ec, [&] { return observe(); });
}

void election::observe(const observer& on_change, std::stop_token stop,
                       std::chrono::milliseconds interval) const {
  if (interval < 10ms || interval > 1h)
    base::fail(errc::bad_option, "observe",
               "the interval is " + std::to_string(interval.count()) + " ms; give 10 ms to 1 h",
               name(), store_.url_text());
  if (!on_change)
    base::fail(errc::bad_option, "observe", "on_change is empty", name(), store_.url_text());
  leader last;
  std::int64_t ended = 0;  // the token of the term before it
  bool is_doubted = false;
  for (bool is_first = true; !stop.stop_requested(); wait(interval, stop)) {
    leader now;
    try {
      now = observe();
    } catch (const lock_error& e) {
      if (e.code() == errc::unavailable || e.code() == errc::no_quorum) continue;
      throw;
    }
    if (!std::exchange(is_first, false) && is_same_term(now, last)) continue;
    // The record of a lock file follows the grant by a moment, and names the former holder until
    // then.
    const bool has_ended = now && now->token != 0 && now->token == ended;
    if (has_ended && !std::exchange(is_doubted, true)) continue;
    is_doubted = false;
    if (last) ended = last->token;
    last = std::move(now);
    on_change(last);
  }
}

void election::observe(const observer& on_change, std::stop_token stop,
                       std::chrono::milliseconds interval, std::error_code& ec) const {
  base::in_either_form(&ec, [&] { observe(on_change, std::move(stop), interval); });
}

}  // namespace holdfast::inline v0
