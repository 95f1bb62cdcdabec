// What the machine reports to the judge of a schedule (tests/sim/judge).
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/failure.hpp"
#include "cohort/turn.hpp"
#include "seam/backend.hpp"
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
  std::size_t place = 0;  // of the grant in the lock's history; for the judge
};

class observer {
 public:
  virtual ~observer() = default;

  virtual void about_to_serve(const pipe&, std::string_view bytes) = 0;  // of that connection
  virtual void after_server(const pipe* by) = 0;  // something may have changed there
  virtual void after_event() = 0;
  virtual void unsafe(moment for_so_long) = 0;   // grants until then mean nothing
  virtual void forget_numbers() = 0;             // the store counts anew
  virtual void excuse(moment until) = 0;         // no rule about free locks is judged until then
  virtual void excuse_ghosts(moment until) = 0;  // nor one about withdrawn claims

  virtual void begins(const stay&) = 0;
  virtual void reads_on(const detail::turn*) = 0;  // a writer
  virtual void ends(const detail::turn*) = 0;
  virtual std::optional<stay> withhold(const detail::turn*) = 0;  // it may be about to end
  virtual void goes_on(const stay&) = 0;                          // it was not
  virtual void gave_up(bool waits_on, const core::failure& why) = 0;

  // A user there has not released a lost lease: until then the process requests no turn.
  virtual bool is_kept_by_a_loser(int lock, const machine&) const = 0;
  // As inspect() shows them: the exclusive holder, the group of its readers, members.
  virtual std::vector<std::string> holders_of(int lock) const = 0;
};

}  // namespace holdfast::sim
