// A claim of layout `string`: the queueing recipe, over the string_layout.
#pragma once
#include <string>

#include "backend/redis/layouts/string/names.hpp"
#include "backend/redis/recipes/queueing.hpp"
#include "backend/redis/slots.hpp"
#include "claim/claim_list.hpp"
#include "claim/group_barrier.hpp"
#include "claim/store_claim.hpp"

namespace holdfast::redis {

class string_layout;
class string_node;
struct string_protocol;
using claim = claims::store_claim<string_protocol>;

struct claim_details {  // of a request, beyond its ttl and its note
  void keep(const seam::acquire_request& request) noexcept {
    permits = request.permits;
    total_permits = request.total_permits;
    group = request.group;
  }
  std::uint32_t permits = 1, total_permits = 0;
  seam::lock_group group;
};

class claim_record : public claims::listed_claim {  // what the string_layout keeps of a claim
 public:
  const std::string& lock() const noexcept { return lock_; }  // K
  const claim_id& id() const noexcept { return id_; }         // of an idle claim: none

  string_node* node = nullptr;           // the server that has the lock
  claim* next_of_id = nullptr;           // in the table
  std::uint32_t deferred_epoch = 0;      // of the claim when it was deferred
  slot_number slot = 0;                  // of the lock, in a cluster
  operation deferred = operation::none;  // what waits until it may be sent
  // deferred: a connection was tried for it, since its time is nearly over
  bool hurried : 1 = false;
  bool renewing : 1 = false;            // in the node's queue
  bool was_sent : 1 = false;            // the server has been sent this id
  bool info_stored : 1 = false;         // a renewal has carried the note
  bool info_may_be_stored : 1 = false;  // one may have

 protected:
  claim_record() = default;
  ~claim_record() = default;

 private:
  friend class string_layout;
  bool was_waiting_ : 1 = false, was_pushable_ : 1 = false, was_listening_ : 1 = false;
  claim_id id_;
  std::string lock_;
};

struct string_protocol {
  using recipe = redis::queueing_recipe;
  using store = string_layout;
  using request_details = claim_details;
  using record = claim_record;
};

}  // namespace holdfast::redis
