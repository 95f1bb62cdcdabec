// The machine's reports to the judge of a schedule (tests/sim/judge).
#pragma once
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/failure.hpp"
#include "cohort/turn.hpp"
#include "seam/backend.hpp"
#include "tests/sim/machine/rules.hpp"
#include "tests/sim/machine/timeline.hpp"

namespace holdfast::sim {

class machine;
class pipe;

// A turn that was started and not left yet.
struct stay {
  const detail::turn* turn = nullptr;
  machine* where = nullptr;
  int lock = 0;
  std::string claim;  // as store_model::claim_of() has it
  lock_mode how = lock_mode::exclusive;
  int permits = 0;
  moment asked{-1};       // when its user began to wait for this lock alone; -1: it did not
  std::size_t place = 0;  // of the grant in the lock's history; for the judge
  // For the judge: what the user was notified with, and since when it has seen held() false.
  std::stop_token doubt{}, loss{};
  moment notified_from{};
  std::optional<moment> lost_since{};
  // Its deadline, and when that last became earlier: by the late reply to an older renewal.
  base::time_point deadline{};
  moment earlier_since{};
};

// The rules that the machine itself judges.
inline const rule_set rules_of_the_machine{rule::attempt, rule::bound, rule::served, rule::rest,
                                           rule::warned};

class observer {
 public:
  virtual ~observer() = default;
  virtual rule_set rules() const = 0;  // that it may report, of all schedules of its store

  virtual void about_to_serve(const pipe&, std::string_view bytes) = 0;  // of that connection
  virtual void after_server(const pipe* by) = 0;  // something may have changed there
  virtual void after_event() = 0;
  virtual void unsafe(moment for_so_long) = 0;  // grants until then mean nothing
  virtual void went_on(const machine&) = 0;     // its clock has stood until now
  virtual void moved(moment window) = 0;        // another server leads; grants of the one before
                                                // are believed for so long
  virtual void taken(moment window) = 0;        // from a holder, which may believe for so long
  virtual void forget_numbers() = 0;            // the store counts anew
  // The server that leads lacks what the one before had, or it had before: what a lock lacks may
  // be believed for so long.
  virtual void lost_writes(moment window) = 0;
  // Leases of all locks, or of one, have changed.
  virtual void excuse_leases() = 0;
  virtual void excuse_leases(int lock) = 0;
  virtual void excuse_old_queues() = 0;  // the server has old data since the last event
  // The waiters of a lock may have wrong data about each other until they have requested it anew.
  virtual void excuse_waiters(int lock, moment until) = 0;
  virtual std::size_t queue_length(int lock) const = 0;
  virtual void begin_last_act() = 0;    // no trouble is left, and no message is slow
  virtual moment free_max() const = 0;  // a lock may be free for so long while a user waits
  virtual void excuse_ghosts(moment until) = 0;  // nor one about withdrawn claims

  virtual void begins(const stay&) = 0;
  virtual void reads_on(const detail::turn*) = 0;  // a writer
  virtual void awaits_notices(const detail::turn*, std::stop_token doubt, std::stop_token loss) = 0;
  virtual void ends(const detail::turn*) = 0;
  virtual std::optional<stay> withhold(const detail::turn*) = 0;  // it may be about to end
  virtual void goes_on(const stay&) = 0;                          // it was not
  virtual void gave_up(bool waits_on, moment asked, const base::failure& why) = 0;

  // A client was answered that it has taken the lock from the owner, or that the owner did not have
  // it any more.
  virtual void broke(int lock, const std::string& owner, moment begun) = 0;
  // The holders that a client was shown. `all`: those that have not renewed yet are among them.
  virtual void shown(int lock, const std::vector<std::string>& owners, bool all, moment begun) = 0;
  // A write of a user with that grant has reached the resource that the lock protects.
  virtual void wrote(int lock, const std::string& claim, std::int64_t token, bool is_admitted) = 0;
  // The client is closed, and has reported whether it leaves nothing.
  virtual void closes(const machine&, bool is_clean) = 0;
  virtual void all_closed(bool has_crashes) = 0;

  // A user there has not released a lost lease: until then the process requests no turn.
  virtual bool is_kept_by_a_loser(int lock, const machine&) const = 0;
  // As inspect() shows them: the exclusive holder, the group of its readers, members.
  virtual std::vector<std::string> holders_of(int lock) const = 0;
};

}  // namespace holdfast::sim
