// Owner ids that may still be at the store: a request was sent and given up without a reply. Each
// is withdrawn repeatedly until the store has answered, or until it must have expired.
#pragma once
#include <list>

#include "backend/memory/transport.hpp"

namespace holdfast::memory {

class orphan_withdrawals {
 public:
  explicit orphan_withdrawals(transport& wire) noexcept : wire_(wire) {}
  ~orphan_withdrawals();  // the client is closed before

  // With the server's mutex held.
  void add(entry&, owner_id, time_point surely_over, time_point now, event_queue&);
  bool empty() const noexcept { return items_.empty(); }
  void drop_all();

 private:
  struct item final : reply_handler {
    item(orphan_withdrawals& l, entry& e, owner_id id, time_point end) noexcept
        : home(l), lock(e), who(id), until(end) {}
    void on_reply(const reply&, time_point now, event_queue&) override;
    void on_wake(time_point now, event_queue&) override;

    orphan_withdrawals& home;
    entry& lock;
    const owner_id who;
    const time_point until;
    unsigned attempts = 0;
    std::list<item>::iterator place;
  };

  void withdraw(item&, time_point now, event_queue&);
  void drop(item&, time_point now);

  transport& wire_;
  std::list<item> items_;
};

}  // namespace holdfast::memory
