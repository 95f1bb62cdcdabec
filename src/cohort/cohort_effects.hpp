// The effects of a cohort, which its local lock carries out with the mutex unlocked: verbs of
// claims, answers to callers, notices. They are also counted for the client's metrics.
#pragma once
#include <memory>
#include <stop_token>
#include <system_error>
#include <vector>

#include "base/intrusive_queue.hpp"
#include "cohort/claim_record.hpp"
#include "cohort/lock_rules.hpp"
#include "cohort/turn.hpp"
#include "cohort/waiter.hpp"

namespace holdfast::cohort {
using namespace base;
using namespace seam;

class cohort_effects {
 public:
  struct notices {
    std::vector<std::stop_source> sources;
    // For the log: of turns that are lost; how those in doubt may end soon.
    std::vector<detail::turn::fate> losses, doubts;
  };

  explicit cohort_effects(const lock_rules& r) noexcept : rules_(r) {}
  const lock_rules& rules() const noexcept { return rules_; }

  void schedule(claim_record&, claim_record::verb) noexcept;
  bool has_scheduled() const noexcept { return !scheduled_.empty(); }
  claim_record* take_scheduled() noexcept;  // removes one; its pending_verbs are to be run

  void answer(completion&) noexcept;  // without a failure
  void answer(waiter&, failure);
  void answer(confirmation&, failure);
  completion* take_answered() noexcept { return answered_.take_all(); }

  void watch(detail::turn&, loss_watch&);
  void end_watch(loss_watch&);               // does nothing when it has been answered
  void answer_watches(detail::turn&, errc);  // errc{}: it is lost

  void doubt(detail::turn&);  // notifies its holder
  void report_doubt(detail::turn::fate how_it_may_end);
  void lose(detail::turn&, detail::turn::fate);
  void request_revocation(detail::turn&);
  bool has_notices() const noexcept { return notices_ != nullptr; }
  std::unique_ptr<notices> take_notices() noexcept { return std::move(notices_); }  // or null

  void count(counters::counter) const noexcept;
  // Called before the turn joins those of the grant.
  void count_turn(detail::turn&, const waiter&, bool joins_others, time_point now) const;
  void end_hold(detail::turn&, time_point now);              // counts and records it
  void count_renewal(time_point due, time_point now) const;  // with metrics

  // Into the recording, where there is one. `now` {}: the clock was not read.
  void record_wait(detail::local_lock&, waiter&, time_point now);
  void record_grant(detail::turn&, const waiter&, time_point now);
  void record_downgrade(detail::turn&, time_point now);
  void record_confirmation(const detail::turn&, time_point now);
  void record_lateness(detail::local_lock&, time_point due, time_point now);

 private:
  void answer(completion&, failure);
  static recorded_event::ending ending_of(detail::turn::fate) noexcept;
  void record_refusal(const waiter&, std::error_code);
  void record_end(const detail::turn&, recorded_event::ending, time_point now);
  void record_doubt(const detail::turn&);
  recorded_event event_at(const detail::local_lock&, time_point now);
  void note_grant(std::int64_t time) noexcept;
  std::int64_t last_grant(const detail::turn&, std::int64_t now) const;
  recorded_event event_of(recorded_event::kind, unsigned reason, const detail::turn&,
                          time_point now);
  notices& notices_of_now();
  void request(detail::turn&, std::stop_source detail::turn::extra_fields::*);

  const lock_rules& rules_;
  // Of the recording: the position of the lock's name, and the time of the last grant.
  std::uint32_t recorded_name_ = 0;   // in words
  std::uint32_t recorded_grant_ = 0;  // in milliseconds since the recording began
  intrusive_queue<completion, &completion::next_answered> answered_;
  intrusive_queue<claim_record, &claim_record::next_scheduled> scheduled_;
  std::unique_ptr<notices> notices_;
};

}  // namespace holdfast::cohort
