#include "cohort/loss_text.hpp"

#include <utility>

namespace holdfast::inline v0::detail {
namespace {

// The lifetime of this store's grants decides what was not confirmed.
std::string unconfirmed(const cohort::lock_rules& rules) {
  switch (rules.can.life) {
    case seam::lifetime::session: return "the session was not confirmed in time";
    case seam::lifetime::connection: return "the connection was not confirmed in time";
    default: return "no renewal was confirmed in time";
  }
}

std::string cause_of_loss(turn::fate why, const cohort::lock_rules& rules) {
  switch (why) {
    case turn::fate::ran_out:
      return "the lease was lost: it expired, because " + unconfirmed(rules);
    case turn::fate::hold_ended: return "the lease was lost: its max_hold has ended";
    case turn::fate::taken: return "the lease was lost: the store reports another owner";
    case turn::fate::forgotten:
      return "the lease was lost: the store no longer has a holder; the lock was broken or deleted "
             "there, or the store has lost its data";
    default: return {};
  }
}

std::string with_status(std::string text, seam::connection& of_lock) {
  const seam::connection_status known = of_lock.status();
  if (!known.last_failure.empty()) return text + ", last connection failure " + known.last_failure;
  return known.trouble.code ? text + "; " + known.trouble.text : text;
}

}  // namespace

std::string text_of_loss(turn::fate why, const cohort::lock_rules& rules,
                         seam::connection& of_lock) {
  std::string text = cause_of_loss(why, rules);
  const bool is_about_store = !text.empty() && why != turn::fate::hold_ended;
  return is_about_store ? with_status(std::move(text), of_lock) : text;
}

std::string text_of_doubt(turn::fate how_it_may_end, const cohort::lock_rules& rules,
                          seam::connection& of_lock) {
  if (how_it_may_end == turn::fate::hold_ended) return "it will soon be lost: its max_hold ends";
  return with_status("it may soon be lost: " + unconfirmed(rules), of_lock);
}

}  // namespace holdfast::inline v0::detail
