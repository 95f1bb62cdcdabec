// How a local lock reports leases that are in doubt or lost.
#include <exception>
#include <utility>

#include "base/log.hpp"
#include "cohort/client_impl.hpp"
#include "cohort/local_lock.hpp"

namespace holdfast::inline v0::detail {
namespace {

const char* text_of(turn::fate why) noexcept {
  switch (why) {
    case turn::fate::ran_out:
      return "the lease was lost: it ran out, and no renewal was confirmed in time";
    case turn::fate::hold_ended: return "the lease was lost: its max_hold has ended";
    case turn::fate::taken: return "the lease was lost: the store reports another owner";
    case turn::fate::forgotten:
      return "the lease was lost: the store has no holder any more; it was broken or deleted "
             "there, "
             "or the store has lost its data";
    case turn::fate::held: return "it may soon be lost: no renewal was confirmed in time";
    case turn::fate::closed: break;
  }
  return "";
}

std::string described(turn::fate why, core::backend& store) {
  std::string out = text_of(why);
  if (out.empty() || why == turn::fate::hold_ended) return out;
  const core::reach known = store.read_reach();
  if (!known.last_failure.empty()) return out + "; last connection failure " + known.last_failure;
  return known.trouble.code ? out + "; " + known.trouble.text : out;
}

}  // namespace

std::string local_lock::why_lost(const turn& t) {
  if (t.status() != errc::lost) return {};
  turn::fate why;
  {
    const lock l(mutex_);
    why = t.now.load();
    // The deadline has passed; no tick has recorded it yet.
    if (why == turn::fate::held) why = t.fate_at_deadline();
  }
  return described(why, client_.store());
}

void local_lock::notify(core::cohort::notices& all) noexcept {
  if (!all.sources.empty()) client_.notify(std::move(all.sources));
  try {
    for (const turn::fate why : all.fates)
      core::log(log_level::warning, "lease \"" + name_ + "\" at " + std::string(client_.place()) +
                                        ": " + described(why, client_.store()));
  } catch (const std::exception&) {  // no memory for a log line: the stop tokens have reported it
  }
}

}  // namespace holdfast::inline v0::detail
