// A store as the cohorts see it: the seam that each folder of src/backend implements.
#pragma once
#include <holdfast/error.hpp>
#include <holdfast/holder.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/caller_driver.hpp"
#include "base/failure.hpp"
#include "seam/capabilities.hpp"
#include "seam/claim.hpp"

namespace holdfast::core {

struct reach {               // of a store, as far as is known
  failure trouble;           // why it gives no answers now; code {}: nothing is known against it
  std::string last_failure;  // of a connection, and how long ago; empty: there was none
  bool connected = true;
  std::uint64_t reconnects = 0;  // how often all connections were there again after one was lost
};

struct holders_handler {  // the answer to inspect()
  virtual void on_holders(std::vector<holder>) = 0;
  virtual void on_failed(failure) = 0;

 protected:
  ~holders_handler() = default;
};

struct decision_handler {                 // the answer to break_lock() and write_guarded()
  virtual void on_decided(bool yes) = 0;  // break_lock: it was held by the one seen
  virtual void on_failed(failure) = 0;

 protected:
  ~decision_handler() = default;
};

struct guarded_write {   // for redis_guard
  std::string_view how;  // ordered, exact, or set: only the owner
  std::string_view key, token, owner, value;
};

class backend {
 public:
  virtual ~backend() = default;  // after close(), with no claim left
  virtual const capabilities& can() const noexcept = 0;
  // Beyond the rules of every backend (seam/name.hpp): empty, or why the name cannot be used here.
  virtual std::string name_fault(std::string_view) const { return {}; }
  // The name is copied. One claim asks for one mode at a time, as each ask says.
  virtual std::unique_ptr<claim> open(std::string_view name, claim_sink&) = 0;
  // Whether asks for these locks can be granted all or none in one step.
  virtual bool can_lock_all(std::span<const std::string_view>) const { return false; }
  // Whether read_reach() would tell of trouble. Takes no lock: called with the core's held.
  virtual bool is_out() const noexcept { return false; }
  // Called with the core's locks held: takes none under which the core is called.
  virtual reach read_reach() { return {}; }
  // A caller's time is nearly over: what is to be tried again later is tried now.
  virtual void hurry() noexcept {}
  virtual void flush() {}  // lets a transport send what was collected
  virtual caller_driver* driver() noexcept { return nullptr; }  // null: callers just block
  virtual void inspect(std::string_view prefix, holders_handler&) = 0;
  virtual void holders(std::string_view name,
                       holders_handler&) = 0;  // of one lock, all others unasked
  // Removes what locks that nobody uses have left at the store. How many locks that were.
  virtual std::size_t remove_unused(failure& why) {
    why = {errc::unsupported, "locks that nobody uses leave nothing behind here"};
    return 0;
  }
  virtual void break_lock(std::string_view name, std::string_view holder_seen,
                          decision_handler&) = 0;
  // Writes a value at the store if the guard beside it admits the token or the owner.
  virtual void write_guarded(const guarded_write&, decision_handler& to) {
    to.on_failed({errc::unsupported, "this backend keeps no values; use a client of a redis: URL"});
  }
  // Answers what is asked by then, then nothing more. True: the store has confirmed that nothing of
  // this client is left, also where a claim ended with outcome_unknown. False: it is not known.
  virtual bool close(time_point until) = 0;
  virtual void forked() noexcept = 0;  // in a fork's child: drop descriptors, send nothing
};

}  // namespace holdfast::core
