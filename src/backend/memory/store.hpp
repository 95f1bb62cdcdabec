// The server: a lease store. It knows nothing of clients but their owner ids and addresses.
//
// A lock is held by one owner until a moment of the store's own clock. Those that find it held wait
// in a queue, first come first served; whoever leaves hands the lock straight to the first in line
// that has an address, for a window in which that one must ask for it, and tells the next in line
// when to look whether it did.
#pragma once
#include <cstdint>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "backend/memory/protocol.hpp"

namespace holdfast::memory {

struct entry;

// Where pushes to one claim go. Attached to the lock's entry while the claim exists.
struct endpoint {
  owner_id who;  // as the claim says now
  entry* lock = nullptr;

 private:
  friend class store;
  endpoint* before_ = nullptr;
  endpoint* after_ = nullptr;
};

struct waiting {
  owner_id who;
  duration ttl, window;
  std::string note;
};

struct tenure {  // what a failover can put back
  owner_id holder;
  std::int64_t number = 0;
  time_point since{}, lapses{};
  std::string note;
  std::list<waiting> queue;
};

struct entry : tenure {
  const std::string* name = nullptr;
  endpoint* first_endpoint = nullptr;
  unsigned references = 0;  // endpoints and others that point here
  bool held(time_point now) const noexcept { return holder && lapses > now; }
};

// The pushes that one request brought about: at most one of each to hand over, to tell the next in
// line and to tell the holder.
struct outbox {
  struct letter {
    endpoint* to;
    push what;
  };
  letter letters[3];
  unsigned count = 0;
  void add(endpoint* to, const push& what) noexcept {
    if (to && count < 3) letters[count++] = {to, what};
  }
};

// Passive: the caller holds the server's mutex and tells the time. The environment is asked for the
// wall clock only.
class store {
 public:
  entry& attach(std::string_view name, time_point now);  // with a reference more
  void detach(entry&, time_point now);
  void add(entry&, endpoint&) noexcept;
  void remove(endpoint&) noexcept;

  reply apply(entry&, const request&, time_point now, core::environment&, outbox&);
  // Takes the lock from `seen`, or from whoever holds it when that is nobody; false when it is not
  // theirs.
  bool take_away(std::string_view name, owner_id seen, time_point now, core::environment&, outbox&);

  void snapshot();
  void fail_over();
  void restart_empty();

  template <class Visit>
  void for_each(Visit visit) const {
    for (const auto& [name, e] : entries_) visit(e);
  }
  template <class Visit>
  void for_each_endpoint(Visit visit) const {
    for (const auto& [name, e] : entries_)
      for (endpoint* p = e.first_endpoint; p;) {
        endpoint* const next = p->after_;
        visit(*p);
        p = next;
      }
  }
  std::size_t size() const noexcept { return entries_.size(); }

 private:
  void ask(entry&, const request&, time_point, core::environment&, outbox&, reply&);
  void leave(entry&, const request&, time_point, core::environment&, outbox&, reply&);
  void hand_over(entry&, time_point, core::environment&, outbox&);
  void point_out_first(entry&, time_point, outbox&);
  void hold(entry&, owner_id, time_point now, duration, core::environment&);
  std::int64_t next_number(time_point now, core::environment&);
  static endpoint* find(const entry&, const owner_id&) noexcept;
  static bool idle(const entry&, time_point now) noexcept;
  void sweep(time_point now);

  std::unordered_map<std::string, entry> entries_;
  std::unordered_map<std::string, tenure> remembered_;
  std::size_t sweep_at_ = 64;
  std::int64_t counter_ = 0;  // of the whole store, so that names that come and go leave nothing
  std::int64_t remembered_counter_ = 0;
  time_point wall_read_at_ = time_point::min();
  std::chrono::microseconds wall_ahead_{};  // of the lease clock
};

}  // namespace holdfast::memory
