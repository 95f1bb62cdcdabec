// Whether a server is reachable: the reason and start of an outage, and the lines for the log.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "backend/redis/transport/connection.hpp"
#include "base/log.hpp"
#include "seam/connection.hpp"

namespace holdfast::redis {

// An outage begins when a connection that claims need is lost or silent, or when the server answers
// that it cannot do something now; it ends when none of this is so any more. One line in the log at
// once, one each minute while a claim is affected, and one when it is over: when every connection
// is there again, also those that no thread reads from and that have therefore been asked.
class reachability {
 public:
  reachability(std::string_view url, base::deferred_log&);  // the URL without secrets

  // With the reactor's mutex held. `matters`: a claim holds or wants a lock.
  void on_lost(lane, const base::failure& why, bool matters, time_point now);
  void on_ready(lane, time_point now);
  void on_asked(lane) noexcept;          // it is open, but another was lost: is this one still?
  void on_proven(lane, time_point now);  // it has answered
  bool is_lost(lane r) const noexcept { return (lost_ & bit_of(r)) != 0; }
  bool is_asked(lane r) const noexcept { return (unverified_ & bit_of(r)) != 0; }
  void on_silent(lane, time_point now);  // requests stay unanswered, the connection is not given up
  void on_heard(lane, time_point now);
  void on_refusal(std::string why, bool matters, time_point now);
  void on_accepted(time_point now) {  // the server does what it put off
    if (!refusal_.empty()) end_refusal(now);
  }
  void on_memory_info(std::string_view);        // the text of INFO memory
  void on_new_waiter(time_point now) noexcept;  // a claim starts to wait
  void tick(bool matters, time_point now);
  time_point next_tick() const noexcept { return next_line_; }
  // `never`: there is no outage.
  time_point since() const noexcept { return since_; }
  seam::connection_status read(time_point now) const;
  std::string_view refusal() const noexcept { return refusal_; }

  bool is_unavailable() const noexcept {
    return is_unavailable_.load(std::memory_order_relaxed);
  }  // any thread

 private:
  using bits = unsigned;
  static constexpr bits bit_of(lane r) noexcept { return 1u << static_cast<unsigned>(r); }
  void weigh(time_point now);
  void end_refusal(time_point now);
  bool is_whole() const noexcept { return (lost_ | unverified_) == 0; }
  bool has_lost_some() const noexcept { return lost_since_ != base::never; }  // not whole since
  void end_outage(time_point now);
  std::string why() const;
  void write(log_level, std::string text);
  void write_trouble(bool matters, time_point now);

  const std::string prefix_;  // of a line
  bits lost_ = 0, silent_ = 0, ever_ready_ = 0;
  bits unverified_ = 0;       // apparently open; a PING is outstanding since another was lost
  std::string refusal_;       // empty: it does what it is asked
  std::string last_failure_;  // of a connection
  time_point failed_at_{};
  time_point since_ = base::never;
  time_point lost_since_ = base::never;
  time_point next_line_ = base::never;
  time_point refusal_logged_at_{};  // when that was in the log last
  std::uint64_t reconnects_ = 0;
  bool is_logged_ = false;  // the outage, as a warning
  std::string eviction_;    // the warning about it that is in the log; empty: none
  std::atomic<bool> is_unavailable_{false};
  base::deferred_log& log_;
};

}  // namespace holdfast::redis
