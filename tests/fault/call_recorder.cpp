#include "call_recorder.hpp"

#include <chrono>
#include <utility>

#include "testkit/participant.hpp"

namespace holdfast::fault_test {

using history::operation;
using history::record;
using history::result;

lease call_recorder::acquire(const std::string& process, const client& c, const std::string& lock) {
  const record r = begin(process, lock, operation::acquire);
  std::error_code why;
  lease got = c.mutex(lock).acquire({}, {}, why);
  note_grant(r, got, why);
  return got;
}

lease call_recorder::acquire_until(std::stop_token stop, const std::string& process,
                                   const client& c, const std::string& lock) {
  const record r = begin(process, lock, operation::acquire);
  std::error_code why;
  lease got = c.mutex(lock).try_acquire_for(std::chrono::hours(1), {}, std::move(stop), why);
  note_grant(r, got, why);
  return got;
}

bool call_recorder::check(const std::string& process, const lease& held) {
  record r = begin(process, std::string(held.name()), operation::check);
  const bool still = held.held();
  r.token = held.token();
  r.deadline = testkit::deadline_of(held);
  end(std::move(r), still ? result::ok : result::lost);
  return still;
}

std::error_code call_recorder::release(const std::string& process, lease& held) {
  record r = begin(process, std::string(held.name()), operation::release);
  r.token = held.token();
  std::error_code why;
  held.release(why);
  end(std::move(r), !why ? result::ok : why == outcome::lost ? result::lost : result::unknown);
  return why;
}

std::vector<history::violation> call_recorder::violations(
    const history::check_options& options) const {
  const std::lock_guard guard(mutex_);
  return history::check(records_, options);
}

record call_recorder::begin(const std::string& process, const std::string& lock,
                            operation what) const {
  return {.process = process, .lock = lock, .what = what, .call = history::history_now()};
}

void call_recorder::end(record r, result outcome) {
  r.back = history::history_now();
  r.outcome = outcome;
  const std::lock_guard guard(mutex_);
  records_.push_back(std::move(r));
}

void call_recorder::note_grant(record r, const lease& got, std::error_code why) {
  r.token = got.token();
  if (got) r.deadline = testkit::deadline_of(got);
  end(std::move(r), got ? result::ok : why ? result::unknown : result::busy);
}

}  // namespace holdfast::fault_test
