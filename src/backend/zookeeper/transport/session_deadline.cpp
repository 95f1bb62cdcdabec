#include "backend/zookeeper/transport/session_deadline.hpp"

#include <algorithm>

#include "base/mutant.hpp"

namespace holdfast::zookeeper {

using base::mutant;
using base::planted;

// Clock rates agree within 1 %; the rest is for the clocks' resolution.
duration session_deadline::worth(duration timeout) const noexcept {
  return timeout - timeout / 100 - std::chrono::milliseconds{2};
}

void session_deadline::create(time_point sent, duration timeout) noexcept {
  *this = {};
  created_ = smallest_ = timeout;
  attach_sent_ = touch_ = sent;
  deadline_ = sent + worth(timeout);
  connection_ = 1;
  connected_ = true;
}

bool session_deadline::attach(time_point sent, duration timeout) noexcept {
  detach();
  ++connection_;
  connected_ = true;
  attach_sent_ = sent;
  if (timeout == created_) return !must_be_replaced_;
  must_be_replaced_ = !planted(mutant::renegotiated_timeout_believed);
  smallest_ = must_be_replaced_ ? std::min(smallest_, timeout) : timeout;
  deadline_ = std::min(deadline_, sent + worth(timeout));
  return !must_be_replaced_;
}

void session_deadline::detach() noexcept {
  connected_ = false;
  if (!planted(mutant::old_role_believed)) is_at_leader_ = false;
}

bool session_deadline::acknowledge(const write_mark& m, time_point now) noexcept {
  if (!connected_ || m.connection != connection_ || must_be_replaced_) return false;
  if (has_lapsed(now) && !planted(mutant::late_acknowledgement_counted)) return false;
  const bool is_touch = m.is_touch || planted(mutant::write_at_follower_renews) ||
                        planted(mutant::deadline_by_any_reply);
  const time_point touch = is_touch ? std::max(m.sent, attach_sent_) : attach_sent_;
  const time_point proven = touch + worth(smallest_);
  if (proven <= deadline_) return false;
  touch_ = touch;
  deadline_ = proven;
  return true;
}

bool session_deadline::has_lapsed(time_point now) noexcept {
  has_lapsed_ = has_lapsed_ || now >= deadline_;
  return has_lapsed_;
}

}  // namespace holdfast::zookeeper
