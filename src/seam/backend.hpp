// A lock store as the cohorts see it: the interface that each folder of src/backend implements.
#pragma once
#include <holdfast/error.hpp>
#include <holdfast/finding.hpp>
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

struct reach {               // the state of a connection to a store, as far as it is known
  failure trouble;           // why it gives no answers now; code {}: none is known
  std::string last_failure;  // of a connection, and how long ago; empty: none
  bool connected = true;
  std::uint64_t reconnects = 0;  // how often all connections were up again after one was lost
};

struct holders_handler {  // the answer to inspect()
  virtual void on_holders(std::vector<holder>) = 0;
  virtual void on_failed(failure) = 0;

 protected:
  ~holders_handler() = default;
};

struct decision_handler {                 // the answer to break_lock() and write_guarded()
  virtual void on_decided(bool yes) = 0;  // break_lock: the holder given did hold it
  virtual void on_failed(failure) = 0;

 protected:
  ~decision_handler() = default;
};

struct findings_handler {  // the answer to examine()
  virtual void on_findings(std::vector<finding>) = 0;
  virtual void on_failed(failure) = 0;

 protected:
  ~findings_handler() = default;
};

struct guarded_write {   // of redis_guard
  std::string_view how;  // ordered, exact, or set (the owner only)
  std::string_view key, token, owner, value;
};

struct held_write {              // of zookeeper_guard
  std::string_view lock, owner;  // of the lease under which it is written
  std::string_view path, value;
  std::int32_t version = -1;  // that the node has; -1: any
};

struct held_write_handler {  // the answer to write_held()
  virtual void on_written(std::int32_t version) = 0;
  virtual void on_failed(failure) = 0;  // lost: that owner has the lock no more

 protected:
  ~held_write_handler() = default;
};

class backend {
 public:
  virtual ~backend() = default;  // after close(), with no claim left
  virtual const capabilities& can() const noexcept = 0;
  // Beyond the rules for every backend (seam/name.hpp): empty, or why this name cannot be used
  // here.
  virtual std::string name_fault(std::string_view) const { return {}; }
  // Copies the name. A claim requests one mode at a time, given in each acquire_request.
  virtual std::unique_ptr<claim> open(std::string_view name, claim_sink&) = 0;
  // Whether requests for these locks can be granted all or none in one step.
  virtual bool can_lock_all(std::span<const std::string_view>) const { return false; }
  // Whether read_reach() would report trouble. Takes no lock: the core calls it with its own held.
  virtual bool is_out() const noexcept { return false; }
  // The core calls it with its locks held, so it takes no lock under which the core is called.
  virtual reach read_reach() { return {}; }
  // A caller's time-out is near: retries that were planned for later are made now.
  virtual void hurry() noexcept {}
  virtual void flush() {}  // has the transport send the collected requests
  virtual caller_driver* driver() noexcept { return nullptr; }  // null: callers just block
  virtual void inspect(std::string_view prefix, holders_handler&) = 0;
  // Of this lock only; the cost does not depend on how many locks the store holds.
  virtual void holders(std::string_view name, holders_handler&) = 0;
  // Whether the store can keep its promises. What cannot be read is a finding, no failure.
  virtual void examine(findings_handler&) = 0;
  // Removes what unused locks have left at the store. Returns the number of locks removed.
  virtual std::size_t remove_unused(failure& why) {
    why = {errc::unsupported,
           "there is nothing to be removed here; what a killed holder leaves at a server goes by "
           "itself, or when its lock is next used"};
    return 0;
  }
  virtual void break_lock(std::string_view name, std::string_view holder_seen,
                          decision_handler&) = 0;
  // Writes a value at the store if the guard stored beside it admits the token or the owner.
  virtual void write_guarded(const guarded_write&, decision_handler& to) {
    to.on_failed({errc::unsupported, "this backend keeps no values; use a client of a redis: URL"});
  }
  // Writes a node at the store in one step with the check that the owner still has the lock.
  virtual void write_held(const held_write&, held_write_handler& to) {
    to.on_failed({errc::unsupported, "this backend keeps no nodes; use a zookeeper: URL"});
  }
  // Answers pending requests until then, and none afterwards. True: the store has confirmed that
  // nothing of this client is left, also where a claim ended with outcome_unknown. False: unknown.
  virtual bool close(time_point until) = 0;
  virtual void forked() noexcept = 0;  // in a fork's child: closes descriptors, sends nothing
};

}  // namespace holdfast::core
