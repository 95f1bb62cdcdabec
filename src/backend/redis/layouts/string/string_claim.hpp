// A claim of layout `string`: the queueing recipe, over the string_layout.
#pragma once
#include <list>
#include <string>

#include "backend/redis/layouts/string/names.hpp"
#include "backend/redis/recipes/queueing.hpp"
#include "backend/redis/transport/reply_handler.hpp"
#include "base/timer_heap.hpp"
#include "claim/claim_table.hpp"
#include "claim/group_barrier.hpp"
#include "claim/orphan_withdrawals.hpp"
#include "claim/store_claim.hpp"

namespace holdfast::redis {

class string_layout;
struct string_protocol;
using claim = claims::store_claim<string_protocol>;

struct claim_details {  // of a request, beyond its ttl and its note
  void keep(const core::acquire_request& how) noexcept {
    permits = how.permits;
    total_permits = how.total_permits;
    group = how.group;
  }
  std::uint32_t permits = 1, total_permits = 0;
  core::lock_group group;
};

class claim_record : public core::heap_timer {  // what the string_layout keeps of a claim
 public:
  const std::string& lock() const noexcept { return lock_; }  // K
  const claim_id& id() const noexcept { return id_; }         // of an idle claim: none
  claims::claim_place place() const noexcept { return place_; }

  claim* next_of_id = nullptr;           // in the table
  operation deferred = operation::none;  // what waits until it may be sent
  std::uint32_t deferred_epoch = 0;      // of the claim when it was deferred
  bool was_sent = false;                 // the server has been sent this id
  bool renewing = false;                 // in the string_layout's list
  bool info_stored = false;              // a renewal has carried the note
  bool info_may_be_stored = false;       // one may have
  bool hurried = false;  // deferred: a connection was tried for it, since its time is nearly over

 protected:
  claim_record() = default;
  ~claim_record() = default;

 private:
  friend class string_layout;
  bool was_waiting_ = false, was_pushable_ = false, was_listening_ = false;
  claims::claim_place place_;
  claim_id id_;
  std::string lock_;
};

struct string_protocol {
  using recipe = redis::queueing_recipe;
  using store = string_layout;
  using request_details = claim_details;
  using record = claim_record;
};

using claim_table = claims::claim_table<claim>;

// An owner id that may be left at the server.
struct orphan final : claims::orphan, reply_handler {
  orphan(string_layout& l, std::string_view name, const owner_text& o, time_point end)
      : claims::orphan(end), lock(name), owner(o), home(l) {}
  claims::withdrawal withdraw(time_point now);
  void on_reply(const value&, const reply_context&) override;
  void on_not_executed(const reply_context& c) override { on_cut(c); }
  void on_cut(const reply_context&) override;

  const std::string lock;
  const owner_text owner;
  std::list<orphan>::iterator place;

 private:
  string_layout& home;
};

}  // namespace holdfast::redis
