// The one seam: what the core and a backend say to each other.
//
// A claim is a conversation between a cohort and a store. The core speaks by verbs, which return at
// once; the backend answers through the claim_sink, later or from inside the verb.
//
//   said by the core | answered by
//   -----------------+----------------------------------------------------------------------------
//   acquire          | granted, or refused (nothing of this claim is left at the store)
//   cancel           | ended, or granted when it was too late to withdraw (then release follows)
//   renew(ticket)    | moved(ticket), or lost, or nothing: an unknown outcome, asked again later
//   downgrade        | nothing: what was exclusive is shared once the store has heard of it
//   peek_line        | wanted when somebody waits, else nothing
//   release          | ended
//   (unasked)        | lost, wanted
//
// After refused and ended the claim is as new and may acquire again, under a new owner id.
// After lost the core still says release, once the holder has left; ended answers that too.
//
// Threads: the core calls the verbs of one claim one at a time and with no lock of its own held.
// An answer from inside a verb is the last thing that the verb does: the next verb may be called by
// another thread before this one has returned. (After release(next): the answer of next.)
// The backend calls a sink with no lock of its own held and in the order of events; calls for one
// claim never overlap, except that verbs and sink calls may run at the same time on two threads.
#pragma once
#include <holdfast/client.hpp>
#include <holdfast/error.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "core/environment.hpp"

namespace holdfast::core {

using mode = lock_mode;
enum class bound_to : unsigned char { ttl, session, connection, process };  // who ends a grant
enum class order : unsigned char { fifo, none };
enum class wanted_by : unsigned char {
  push,    // claim_sink::wanted() tells that somebody waits at the store
  poll,    // claim::others_wait() answers when asked
  silent,  // cannot tell: somebody is always taken to wait
};

constexpr unsigned bit_of(mode m) noexcept { return 1u << static_cast<unsigned>(m); }

struct capabilities {
  bound_to life = bound_to::ttl;
  order queue = order::none;
  wanted_by wanted = wanted_by::silent;
  unsigned modes = bit_of(mode::exclusive);
  bool tokens = true;      // every grant has a number
  bool durable = false;    // grants and numbers outlive the process
  bool processes = false;  // excludes other processes
  bool breakable = false;
  bool shown_by_renewal = false;  // inspect() finds a holder once it has renewed: done soon
  bool downgrade = false;
};

// Asks of several claims of one backend, each with one_attempt, that are granted all or none: in
// one step at the store, once so many of them were said. Claims that must not wait for the others
// any more are cancelled. A value: who asked may be gone when the verb is said.
struct gathering {
  std::uint32_t members = 0;  // 0: it is asked for alone
  std::uint32_t id = 0;       // of this process

  static gathering of(std::uint32_t members) noexcept {
    static std::atomic<std::uint32_t> last = 0;
    return {members, last.fetch_add(1, std::memory_order_relaxed) + 1};
  }
  explicit operator bool() const noexcept { return members != 0; }
  bool operator==(const gathering&) const noexcept = default;
};

struct ask {                 // one acquire
  bool one_attempt = false;  // refused with timed_out when somebody else holds the lock
  duration ttl{};
  std::string_view note{};  // copied before the verb returns
  mode how = mode::exclusive;
  std::uint32_t permits = 1;  // permit: how many at once
  std::uint32_t of = 0;       // permit: of so many; refused with mismatch when others say otherwise
  gathering with{};           // only of backends that said can_gather()
  time_point at{};            // the clock just before, where it was read
};

struct grant {
  std::int64_t number = 0;      // 1 .. 2^53-1, grows with each grant of the lock; readers that hold
                                // it together have the same
  time_point deadline = never;  // from before the request was sent; `never` unless bound to ttl
  time_point seen{};            // the clock when the answer arrived; only with a deadline
  bool others_wait = false;     // somebody waits at the store already
  bool handed = false;  // handed over for a short window: the first turn starts at once, and is
                        // renewed before the window ends
  bool line_unseen = false;  // somebody may wait of whom the grant could not tell: see peek_line()
};

struct failure {
  std::error_code code;  // an errc
  std::string text;      // the thing that is wrong and what to do about it, without secrets
};

struct reach {               // of a store, as far as is known
  failure trouble;           // why it gives no answers now; code {}: nothing is known against it
  std::string last_failure;  // of a connection, and how long ago; empty: there was none
  bool connected = true;
  std::uint64_t reconnects = 0;  // how often all connections were there again after one was lost
};

class claim_sink {
 public:
  virtual void granted(const grant&) = 0;
  virtual void refused(failure) = 0;  // timed_out: one attempt, and another holds the lock
  virtual void moved(time_point deadline, std::uint32_t ticket) = 0;
  // The store's own word. lost: another owner has it; not_held: nobody; timed_out: it ran out.
  virtual void lost(std::error_code) = 0;
  virtual void wanted() = 0;
  virtual void ended(failure) = 0;  // code {}: released or withdrawn; not_held: the store had
                                    // another owner; outcome_unknown: left to run out

 protected:
  ~claim_sink() = default;
};

class claim;
struct succession {  // who asks next, in the same write as a release
  claim* who = nullptr;
  ask how;
};

class claim {
 public:
  virtual ~claim() = default;  // only when it is as new
  virtual void acquire(const ask&) = 0;
  virtual void cancel() = 0;
  virtual void renew(duration ttl, std::uint32_t ticket) = 0;
  // While held exclusively, once: from here on it is a share, under the same number. Where a store
  // cannot do that (capabilities::downgrade) it stays exclusive there, which harms nobody.
  virtual void downgrade() {}
  // While held, of a grant with line_unseen. Waiters that came before the grant count on the first
  // of them to ask for the lock, and that one may be lost.
  virtual void peek_line() {}
  virtual void release(
      const succession* next) = 0;  // next: as release(), then next->who->acquire(next->how)
  virtual bool others_wait() { return true; }  // wanted_by::poll; by the holder, while held
  // While held: whom a guard compares. As inspect() shows it; of readers that hold it together the
  // id of all of them, which break_lock() takes too.
  virtual std::string owner() const { return {}; }
  virtual int native_handle() const noexcept { return -1; }  // while held: lease::native_handle()
};

// A blocked caller may lend its thread to the backend's I/O: one that awaits the store leads the
// loop of events. One that waits for another thread of its client only sleeps.
class parker;     // core/parker.hpp
struct follower;  // core/follower.hpp
class driver {
 public:
  virtual void run_until_signalled(parker&) = 0;      // the caller awaits the store
  virtual void sleep_until_signalled(follower&) = 0;  // it does once it is enlisted
  // From any thread, before the parker is signalled. The follower's thread must come to
  // sleep_until_signalled() after that, even with its answer: it may have been made the leader.
  virtual void enlist(follower&) noexcept = 0;
  // An answer is awaited by somebody who does not block. What was collected for it is written.
  virtual void attend() noexcept = 0;

 protected:
  ~driver() = default;
};

struct inspection {  // the answer to inspect()
  virtual void found(std::vector<holder>) = 0;
  virtual void failed(failure) = 0;

 protected:
  ~inspection() = default;
};

struct verdict {                       // the answer to break_lock() and write_guarded()
  virtual void decided(bool yes) = 0;  // break_lock: it was held by the one seen
  virtual void failed(failure) = 0;

 protected:
  ~verdict() = default;
};

struct guarded_write {   // for redis_guard
  std::string_view how;  // ordered, exact, or set: only the owner
  std::string_view key, token, owner, value;
};

class backend {
 public:
  virtual ~backend() = default;  // after close(), with no claim left
  virtual const capabilities& can() const noexcept = 0;
  // Beyond the rules of every backend (core/name.hpp): empty, or why the name cannot be used here.
  virtual std::string name_fault(std::string_view) const { return {}; }
  // The name is copied. One claim asks for one mode at a time, as each ask says.
  virtual std::unique_ptr<claim> open(std::string_view name, claim_sink&) = 0;
  // Whether asks for these locks can be granted all or none in one step.
  virtual bool can_gather(std::span<const std::string_view>) const { return false; }
  // Whether read_reach() would tell of trouble. Takes no lock: called with the core's held.
  virtual bool is_out() const noexcept { return false; }
  // Called with the core's locks held: takes none under which the core is called.
  virtual reach read_reach() { return {}; }
  // A caller's time is nearly over: what is to be tried again later is tried now.
  virtual void hurry() noexcept {}
  virtual void flush() {}                              // lets a transport send what was collected
  virtual driver* lend() noexcept { return nullptr; }  // null: callers just block
  virtual void inspect(std::string_view prefix, inspection&) = 0;
  virtual void holders(std::string_view name, inspection&) = 0;  // of one lock, all others unasked
  // Removes what locks that nobody uses have left at the store. How many locks that were.
  virtual std::size_t remove_unused(failure& why) {
    why = {errc::unsupported, "locks that nobody uses leave nothing behind here"};
    return 0;
  }
  virtual void break_lock(std::string_view name, std::string_view holder_seen, verdict&) = 0;
  // Writes a value at the store if the guard beside it admits the token or the owner.
  virtual void write_guarded(const guarded_write&, verdict& to) {
    to.failed({errc::unsupported, "this backend keeps no values; use a client of a redis: URL"});
  }
  // Answers what is asked by then, then nothing more. True: the store has confirmed that nothing of
  // this client is left, also where a claim ended with outcome_unknown. False: it is not known.
  virtual bool close(time_point until) = 0;
  virtual void forked() noexcept = 0;  // in a fork's child: drop descriptors, send nothing
};

}  // namespace holdfast::core
