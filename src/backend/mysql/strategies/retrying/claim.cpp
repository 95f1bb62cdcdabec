#include "backend/mysql/strategies/retrying/claim.hpp"

#include "backend/mysql/strategies/retrying/strategy.hpp"
#include "base/mutant.hpp"

namespace holdfast::mysql::retrying {

using claims::withdrawal;

orphan::orphan(strategy& s, const claim& c, time_point end)
    : claims::orphan(end),
      home_(s),
      name_(c.name),
      owner_(base::text_of(c.owner_id)),
      mode_(c.details.mode) {}

// After what was sent for the lock before: over another connection it could be executed first.
withdrawal orphan::withdraw(time_point now) {
  const bool follows = !base::planted(base::mutant::withdrawal_overtakes);
  home_.over().submit(lane::commands, home_.texts().release(name_, owner_, mode_), *this, now,
                      follows ? home_.order_of(name_) : 0);
  home_.over().tick_by(now);  // no caller waits for the reply
  return withdrawal::sent;
}

void orphan::on_reply(const sql_reply& r, const reply_context& c) {
  const withdrawal proven = !r.is_ok()   ? withdrawal::refused
                            : c.is_final ? withdrawal::done
                                         : withdrawal::unverified;
  strategy& to = home_;  // on_answer() may end this
  to.over().tick_by(to.orphans().on_answer(*this, proven, c.now));
}

void orphan::on_cut(const failure&, const reply_context& c) {
  strategy& to = home_;
  to.over().tick_by(to.orphans().on_answer(*this, withdrawal::may_be_lost, c.now));
}

bool request::has_requester() const noexcept { return home_.has_requester(*this); }
void request::on_reply(const sql_reply& r, const reply_context& c) { home_.on_reply(*this, r, c); }
void request::on_cut(const failure&, const reply_context& c) { home_.on_cut(*this, c); }
void request::on_dropped() noexcept { home_.give_back(*this); }

}  // namespace holdfast::mysql::retrying
