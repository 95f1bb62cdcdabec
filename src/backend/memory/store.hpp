// The server: a lease store. Of its clients it knows only owner ids and push targets.
//
// A lock is held until a time of the store's own clock, by one owner, by readers together, or, as a
// semaphore, by as many holders as its permits allow. A claim for which there is no room, or before
// which another one waits, is queued, first come first served. A claim that leaves hands the lock
// directly to the first queued claim that has a push target, and to those behind it for which there
// is room too: for a window within which they must confirm it. The next claim in the queue learns
// when to check whether a lease has expired.
#pragma once
#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "backend/memory/protocol.hpp"

namespace holdfast::memory {

struct waiting {
  owner_id who;
  duration ttl, window;
  request_details what;
};

struct member {  // a reader, or a holder of permits
  owner_id who;
  std::int64_t number = 0;  // readers that hold it together share one
  std::uint32_t permits = 0;
  time_point since{}, lapses{};
  std::string note;
};

struct contenders {
  std::list<waiting> queue;
  owner_id notified_first;  // the waiter that knows that it is first in the queue
  std::vector<member> members;
  std::uint32_t total_permits = 0;  // of the members' semaphore; 0: they are readers

  member* find(const owner_id& owner) noexcept;
  bool remove(const owner_id& owner) noexcept;  // from the members
  void remove_lapsed(time_point now);
  bool first_in_queue(const owner_id& owner) const noexcept {
    return !queue.empty() && queue.front().who == owner;
  }
  // Whether there is room beside the members.
  bool fits(const request_details&) const noexcept;
  time_point earliest_lapse() const noexcept;  // of the members; there must be one
};

struct entry;

// Where pushes to one claim are delivered. Attached to the lock's entry while the claim exists.
struct push_target {
  owner_id who;  // the claim's current owner id
  entry* lock = nullptr;

 private:
  friend class store;
  push_target* before_ = nullptr;
  push_target* after_ = nullptr;
};

struct lock_state {  // the state that a failover can restore
  owner_id holder;   // exclusive holder
  std::int64_t number = 0;
  time_point since{}, lapses{};
  std::string note;
  std::unique_ptr<contenders> more;  // null: there was never more than one exclusive holder

  lock_state() = default;
  lock_state(const lock_state&);
  lock_state(lock_state&&) = default;
  lock_state& operator=(lock_state&&) = default;
  ~lock_state() = default;

  bool held(time_point now) const noexcept { return holder && lapses > now; }
  bool wanted() const noexcept { return more && !more->queue.empty(); }
};

struct entry : lock_state {
  const std::string* name = nullptr;
  push_target* first_push_target = nullptr;
  unsigned references = 0;  // push targets and others that point here
};

// The pushes that requests caused, in order.
class push_list {
 public:
  struct addressed_push {
    push_target* to;
    push what;
  };
  void add(push_target* to, push::hint hint, const owner_id& owner, duration in = {}) {
    if (to) pushes_.push_back({to, {hint, owner, in}});
  }
  bool empty() const noexcept { return pushes_.empty(); }
  std::size_t size() const noexcept { return pushes_.size(); }
  const addressed_push& operator[](std::size_t i) const noexcept { return pushes_[i]; }
  void clear() noexcept { pushes_.clear(); }

 private:
  std::vector<addressed_push> pushes_;
};

// One of several requests that are granted all or none.
struct part {
  entry* lock;
  request what;
  reply answer;
};

// Passive: the caller holds the server's mutex and passes the time. The environment is used for the
// wall clock only.
class store {
 public:
  entry& attach(std::string_view name, time_point now);  // adds a reference
  void detach(entry&, time_point now);
  void add(entry&, push_target&) noexcept;
  void remove(push_target&) noexcept;

  reply apply(entry&, const request&, time_point now, base::environment&, push_list&);
  // Grants all or none; in the latter case those that could have been granted are busy.
  void apply_together(std::span<part>, time_point now, base::environment&, push_list&);
  // Takes the lock from `seen`, or from all its holders when `seen` is empty; false when it is not
  // held by them.
  bool break_lock(std::string_view name, const holder_seen&, time_point now, base::environment&,
                  push_list&);

  void snapshot();
  void fail_over();
  void restart_empty();

  template <class Visit>
  void for_each(Visit visit) const {
    for (const auto& [name, e] : entries_) visit(e);
  }
  template <class Visit>
  void for_each_push_target(Visit visit) const {
    for (const auto& [name, e] : entries_)
      for (push_target* p = e.first_push_target; p;) {
        push_target* const next = p->after_;
        visit(*p);
        p = next;
      }
  }
  std::size_t size() const noexcept { return entries_.size(); }

 private:
  void ask(entry&, const request&, time_point, base::environment&, push_list&, reply&);
  bool admits(entry&, const request&, const request_details&, time_point, base::environment&,
              push_list&, reply&);
  void renew(entry&, const request&, time_point, base::environment&, push_list&, reply&);
  void leave(entry&, const request&, time_point, base::environment&, push_list&, reply&);
  void enqueue(entry&, const request&, const request_details&, push_list&);
  void settle(entry&, time_point, base::environment&, push_list&);
  void hold(entry&, owner_id, const request_details&, time_point now, duration, base::environment&);
  void found_group(entry&);
  static bool has_room(const entry&, const request_details&, time_point) noexcept;
  static bool extend(entry&, const request&, time_point, reply&);
  std::int64_t next_number(time_point now, base::environment&);
  static push_target* find(const entry&, const owner_id&) noexcept;
  static bool idle(const entry&, time_point now) noexcept;
  void sweep(time_point now);

  std::unordered_map<std::string, entry> entries_;
  std::unordered_map<std::string, lock_state> remembered_;
  std::size_t sweep_at_ = 64;
  // One for the whole store, so that names that come and go leave nothing.
  std::int64_t counter_ = 0;
  std::int64_t remembered_counter_ = 0;
  time_point wall_read_at_ = time_point::min();
  std::chrono::microseconds wall_ahead_{};  // of the lease clock
};

}  // namespace holdfast::memory
