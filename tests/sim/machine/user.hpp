// A user of locks: requests them, holds them for a while, releases them, and requests them again.
#pragma once
#include <holdfast/detail/verbs.hpp>

#include <string_view>

#include "cohort/blocked.hpp"
#include "cohort/turn.hpp"
#include "tests/sim/machine/event.hpp"
#include "tests/sim/machine/timeline.hpp"

namespace holdfast::sim {

class world;
class machine;

class user {
 public:
  user(world&, machine&, int number);
  virtual ~user() = default;
  user(const user&) = delete;

  void begin();                     // after a while
  virtual void end() noexcept = 0;  // whatever it does; for good
  bool is_served() const noexcept { return rounds_left_ <= 0 && !is_busy(); }
  void one_more();  // a round
  // Has waited for so long, counted from `since` on at most.
  moment waits(moment now, moment since) const noexcept;
  // How long it has waited beyond its bound, and what may follow that; zero: it has not.
  moment exceeds(moment now) const noexcept;
  // How long it has waited for the answer to a release beyond an op-timeout; zero: it has not.
  virtual moment release_exceeds(moment) const noexcept { return {}; }
  // It may have a claim in the lock's line; `surely`: it wants that lock, and no other first.
  virtual bool may_wait_for(int lock, bool surely) const noexcept = 0;
  // Since when it has waited for this lock alone, with more than one attempt; max(): it does not.
  virtual moment waits_alone_since(int /*lock*/) const noexcept { return moment::max(); }

 protected:
  virtual void ask() = 0;
  virtual bool is_waiting() const noexcept = 0;
  virtual bool is_holding() const noexcept = 0;

  bool is_busy() const noexcept { return is_waiting() || is_holding(); }
  // Unless all is over by then, or it is another round.
  void after(moment wait, deed what);
  // `last_attempt`: what may still be under way when the time of a bounded wait is over.
  detail::wait_bound how_long(moment last_attempt);
  moment attempt_max() const;  // one attempt takes no longer
  void attempts();             // makes one attempt, which must not wait
  bool withdraws();
  void holds(detail::turn&, int lock, lock_mode, int permits, moment asked = moment(-1));
  void awaits_notices(detail::turn&);  // of a doubt and of the loss
  void goes_on();                      // with the next round
  void refused(const base::failure&);  // it waited in vain
  // `text` has the facts in it.
  void record(event, std::string_view text, fact first = 0, fact second = 0);

  world& world_;
  machine& machine_;
  const int number_;
  int rounds_left_;
  const std::chrono::milliseconds ttl_;
  bool over_ = false;
  moment asked_{};

 private:
  bool waits_on_ = false;         // for as long as it takes
  moment bound_ = moment::max();  // counted from asked_; max(): none
  moment last_attempt_{}, stood_then_{};
  // The pause before the next request once numbers are used up. An operator needs a moment without
  // requests to reset them.
  moment until_next_{};

  int attempt_ = 0;
  bool planned_ = false;
};

}  // namespace holdfast::sim
