// Ids that may be left at the server: asked for, never answered, given up. Each is withdrawn by its
// owner's name until the server has answered and nothing of it can arrive any more.
#pragma once
#include <list>
#include <string>

#include "backend/redis/layouts/string/names.hpp"
#include "backend/redis/transport/reply_handler.hpp"

namespace holdfast::redis {

using core::duration;
using core::time_point;

class link;

class ledger {
 public:
  explicit ledger(link& home) noexcept : home_(home) {}

  // With the link's lock held.
  void add(std::string_view lock, const owner_text&, duration ttl, time_point now);
  void resend(time_point now);      // over a new connection, before anything else
  time_point tend(time_point now);  // sends what is due; when something is due next
  bool empty() const noexcept { return items_.empty(); }
  void drop_all() noexcept;  // when no answer can come any more

 private:
  struct item final : reply_handler {
    item(ledger& l, std::string_view name, const owner_text& o, time_point end)
        : home(l), lock(name), owner(o), until(end) {}
    void on_reply(const value&, const reply_context&) override;
    void on_not_executed(const reply_context& c) override { on_cut(c); }
    void on_cut(const reply_context&) override { in_flight = false; }

    ledger& home;
    const std::string lock;
    const owner_text owner;
    const time_point until;
    time_point next = core::never;  // to ask again
    unsigned answers = 0;
    bool in_flight = false;
    std::list<item>::iterator place;
  };
  void withdraw(item&, time_point now);

  link& home_;
  std::list<item> items_;
};

}  // namespace holdfast::redis
