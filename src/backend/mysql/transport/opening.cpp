// Opening, and what is known of an outage.
#include <chrono>
#include <utility>

#include "backend/mysql/transport/transport.hpp"
#include "base/fail.hpp"
#include "seam/client_options.hpp"

namespace holdfast::mysql {

class transport::first_session final : public io::blocking_wait {
 public:
  first_session(transport& t, time_point until) noexcept : io::blocking_wait(until), home_(t) {}

 private:
  std::optional<failure> outcome(bool is_overdue) override {
    if (home_.was_ready_)
      if (std::optional<failure> opened = home_.user_.opened()) return opened;
    if (home_.refused_ && !home_.was_ready_) return home_.refused_;
    if (!is_overdue) return std::nullopt;
    const std::string& last = home_.last_failure_.text;
    return failure{errc::unavailable, last.empty() ? "no answer within the op-timeout" : last};
  }
  transport& home_;
};

void transport::open(std::stop_token stop) {
  const time_point until = base::saturating_add(env().now(), where_.op_timeout);
  first_session w(*this, until);
  const auto begin = [&](time_point now, event_queue&) {
    reactor_.begin(w);
    reactor_.wake_by(until);
    open_more(lane::commands, now);
  };
  reactor_.run(begin, true);
  reactor_.driver() ? reactor_.wait(w, std::move(stop)) : reactor_.abandon(w);
  if (w.why().code) throw lock_error(w.why().code, {"open", {}, where_.text, w.why().text});
}

void transport::note_down(const failure& why, time_point now) {
  last_failure_ = why;
  failed_at_ = now;
  if (is_unavailable_.exchange(true, std::memory_order_relaxed)) return;
  out_since_ = now;
  if (was_ready_)
    reactor_.log().add(log_level::warning,
                       "the connection to " + where_.text + " is lost: " + why.text);
}

void transport::note_up(time_point now) {
  if (!is_unavailable_.exchange(false, std::memory_order_relaxed)) return;
  const duration out = now - std::exchange(out_since_, base::never);
  if (!was_ready_) return;
  ++reconnects_;
  reactor_.log().add(log_level::warning,
                     "connected to " + where_.text + " again after " + base::text_of(out));
}

seam::connection_status transport::read_status() const {
  seam::connection_status out;
  out.connected = !is_unavailable();
  out.reconnects = reconnects_;
  if (!last_failure_.text.empty())
    out.last_failure = base::text_of(env().now() - failed_at_) + " ago: " + last_failure_.text;
  if (is_unavailable()) out.trouble = {errc::unavailable, last_failure_.text};
  return out;
}

std::string transport::reason(errc why) const {
  if (why != errc::unavailable && why != errc::outcome_unknown) return {};
  return last_failure_.text.empty() ? "no answer within the op-timeout" : last_failure_.text;
}

}  // namespace holdfast::mysql
