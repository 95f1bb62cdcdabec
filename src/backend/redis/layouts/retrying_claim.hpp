// A claim of a layout without a queue: the retrying recipe, over the layout's transport.
#pragma once
#include <cstdint>
#include <list>
#include <string>
#include <string_view>

#include "backend/redis/recipes/retrying.hpp"
#include "backend/redis/transport/reply_handler.hpp"
#include "base/timer_heap.hpp"
#include "claim/claim_table.hpp"
#include "claim/orphan_withdrawals.hpp"
#include "claim/store_claim.hpp"

namespace holdfast::redis {

class retrying_layout;

struct retrying_owner {  // 128 random bits, drawn for every acquire
  std::uint64_t high = 0, low = 0;
  explicit operator bool() const noexcept { return (high | low) != 0; }
};

struct retrying_record : core::heap_timer {  // what the layout keeps of a claim
  std::string key;
  retrying_owner owner_id;   // none: the claim is idle
  time_point owner_since{};  // when it was drawn
  claims::claim_place place;
  bool was_sent = false;    // the server may have seen this owner
  bool renewing = false;    // in the layout's list
  bool is_waiting = false;  // counted among those that wait for a reply

 protected:
  ~retrying_record() = default;
};

struct retrying_protocol {
  using recipe = retrying_recipe;
  using store = retrying_layout;
  struct request_details {
    void keep(const core::acquire_request&) noexcept {}
  };
  using record = retrying_record;
};
using retrying_claim = claims::store_claim<retrying_protocol>;

// An owner that may be left at the server.
struct retrying_orphan final : claims::orphan, reply_handler {
  retrying_orphan(retrying_layout& l, std::string_view lock, std::string text, time_point end)
      : claims::orphan(end), key(lock), owner(std::move(text)), home(l) {}
  claims::withdrawal withdraw(time_point now);
  void on_reply(const value&, const reply_context&) override;
  void on_not_executed(const reply_context&) override;
  void on_cut(const reply_context&) override;

  const std::string key, owner;
  std::list<retrying_orphan>::iterator place;

 private:
  retrying_layout& home;
};

}  // namespace holdfast::redis
