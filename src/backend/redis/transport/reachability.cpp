#include "backend/redis/transport/reachability.hpp"

#include <utility>

#include "backend/redis/transport/server_info.hpp"

namespace holdfast::redis {

using namespace std::chrono_literals;

namespace {

constexpr duration between_lines = 1min;
// A lost connection for renewals keeps no claim from a lock.
constexpr unsigned needed_by_waiters =
    1u << static_cast<unsigned>(lane::commands) | 1u << static_cast<unsigned>(lane::messages);

}  // namespace

reachability::reachability(std::string_view url, base::deferred_log& log)
    : prefix_(std::string(url.substr(0, url.find('?'))) + ": "), log_(log) {}

void reachability::on_lost(lane r, const base::failure& why, bool matters, time_point now) {
  const bool is_first = !has_lost_some();
  lost_ |= bit_of(r);
  silent_ &= ~bit_of(r);
  unverified_ &= ~bit_of(r);
  last_failure_ = why.text;
  failed_at_ = now;
  weigh(now);
  if (!is_first) return;
  lost_since_ = now;
  is_logged_ = false;  // the line of a refusal was about another trouble
  write_trouble(matters, now);
}

void reachability::on_ready(lane r, time_point now) {
  lost_ &= ~bit_of(r);
  ever_ready_ |= bit_of(r);
  weigh(now);
  end_outage(now);
}

void reachability::on_asked(lane r) noexcept { unverified_ |= bit_of(r); }

void reachability::on_proven(lane r, time_point now) {
  unverified_ &= ~bit_of(r);
  end_outage(now);
}

// Every connection is there again: those that were lost, and those that seemed open meanwhile.
void reachability::end_outage(time_point now) {
  if (!is_whole() || !has_lost_some()) return;
  ++reconnects_;
  write(is_logged_ ? log_level::warning : log_level::info,
        "connected again after " + base::text_of(now - std::exchange(lost_since_, base::never)));
  is_logged_ = false;
  next_line_ = base::never;
}

void reachability::on_silent(lane r, time_point now) {
  silent_ |= bit_of(r);
  weigh(now);
}

void reachability::on_heard(lane r, time_point now) {
  silent_ &= ~bit_of(r);
  weigh(now);
}

// A server that is now full, now not, is in the log once a minute.
void reachability::on_refusal(std::string why, bool matters, time_point now) {
  const bool is_first = refusal_.empty();
  refusal_ = std::move(why);
  weigh(now);
  if (!is_first || has_lost_some()) return;
  const bool is_due =
      refusal_logged_at_ == time_point{} || now - refusal_logged_at_ >= between_lines;
  if (is_due) {
    write_trouble(matters, now);
  } else {
    next_line_ = refusal_logged_at_ + between_lines;
  }
}

void reachability::end_refusal(time_point now) {
  refusal_.clear();
  if (!has_lost_some()) {
    if (is_logged_) write(log_level::warning, "the server accepts requests again");
    is_logged_ = false;
    next_line_ = base::never;
  }
  weigh(now);
}

// Once, not with each reconnect; again when the server, or another in its place, is set otherwise.
void reachability::on_memory_info(std::string_view info) {
  std::string warning = eviction_warning(info);
  if (!warning.empty() && warning != eviction_) write(log_level::warning, warning);
  eviction_ = std::move(warning);
}

void reachability::on_new_waiter(time_point now) noexcept {
  const bool is_out = has_lost_some() || !refusal_.empty();
  if (is_out && next_line_ == base::never) next_line_ = now;  // no line is due: none was a warning
}

void reachability::tick(bool matters, time_point now) {
  if (next_line_ > now) return;
  if (matters) return write_trouble(true, now);
  next_line_ = base::never;  // the next affected caller sets it again
  is_logged_ = false;
  if (!has_lost_some()) on_accepted(now);  // no request follows that would show it
}

void reachability::write_trouble(bool matters, time_point now) {
  const bool again = std::exchange(is_logged_, matters) && matters;
  const duration past = now - (has_lost_some() ? lost_since_ : since_);
  std::string text = has_lost_some() ? "the connection is lost: "
                                     : "the server is temporarily refusing requests: ";
  if (again)
    text = (has_lost_some() ? "no connection for " : "the server has been refusing requests for ") +
           base::text_of(past) + ": ";
  write(matters ? log_level::warning : log_level::info,
        text + (has_lost_some() ? last_failure_ : refusal_) +
            (again ? "; still trying" : "; retrying"));
  if (!has_lost_some()) refusal_logged_at_ = now;
  next_line_ = matters ? now + between_lines : base::never;
}

void reachability::write(log_level level, std::string text) {
  log_.add(level, prefix_ + std::move(text));
}

void reachability::weigh(time_point now) {
  const bool out = ((lost_ | silent_) & needed_by_waiters) != 0 || !refusal_.empty();
  if (out == (since_ != base::never)) return;
  since_ = out ? now : base::never;
  is_unavailable_.store(out, std::memory_order_relaxed);
}

std::string reachability::why() const {
  if (lost_ != 0) return "no connection: " + last_failure_;
  return refusal_.empty() ? "the server does not answer" : refusal_;
}

seam::connection_status reachability::read(time_point now) const {
  seam::connection_status out;
  if (since_ != base::never) out.trouble = {errc::unavailable, why()};
  if (!last_failure_.empty())
    out.last_failure = base::text_of(now - failed_at_) + " ago: " + last_failure_;
  out.connected = is_whole() && (ever_ready_ & bit_of(lane::commands)) != 0;
  out.reconnects = reconnects_;
  return out;
}

}  // namespace holdfast::redis
