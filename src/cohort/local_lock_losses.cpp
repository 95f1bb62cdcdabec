// How a local lock reports leases that are in doubt or lost.
#include <exception>
#include <utility>

#include "base/log.hpp"
#include "cohort/client_impl.hpp"
#include "cohort/local_lock.hpp"

namespace holdfast::inline v0::detail {
namespace {

// What keeps a grant of this store alive, and was not heard of in time.
std::string unconfirmed(core::backend& store) {
  switch (store.can().life) {
    case core::bound_to::session: return "the session was not confirmed in time";
    case core::bound_to::connection: return "the connection was not confirmed in time";
    default: return "no renewal was confirmed in time";
  }
}

std::string text_of_loss(turn::fate why, core::backend& store) {
  switch (why) {
    case turn::fate::ran_out: return "the lease was lost: it ran out, and " + unconfirmed(store);
    case turn::fate::hold_ended: return "the lease was lost: its max_hold has ended";
    case turn::fate::taken: return "the lease was lost: the store reports another owner";
    case turn::fate::forgotten:
      return "the lease was lost: the store has no holder any more; it was broken or deleted "
             "there, "
             "or the store has lost its data";
    default: return {};
  }
}

std::string with_reach(std::string text, core::backend& store) {
  const core::reach known = store.read_reach();
  if (!known.last_failure.empty()) return text + "; last connection failure " + known.last_failure;
  return known.trouble.code ? text + "; " + known.trouble.text : text;
}

std::string loss(turn::fate why, core::backend& store) {
  std::string text = text_of_loss(why, store);
  const bool is_about_store = !text.empty() && why != turn::fate::hold_ended;
  return is_about_store ? with_reach(std::move(text), store) : text;
}

std::string doubt(turn::fate how_it_may_end, core::backend& store) {
  if (how_it_may_end == turn::fate::hold_ended) return "it will soon be lost: its max_hold ends";
  return with_reach("it may soon be lost: " + unconfirmed(store), store);
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
  return loss(why, client_.store());
}

void local_lock::notify(core::cohort::notices& all) noexcept {
  if (!all.sources.empty()) client_.notify(std::move(all.sources));
  try {
    const std::string lease = "lease \"" + name_ + "\" at " + std::string(client_.place()) + ": ";
    for (const turn::fate how : all.doubts)
      core::log(log_level::warning, lease + doubt(how, client_.store()));
    for (const turn::fate why : all.losses)
      core::log(log_level::warning, lease + loss(why, client_.store()));
  } catch (const std::exception&) {  // no memory for a log line: the stop tokens have reported it
  }
}

}  // namespace holdfast::inline v0::detail
