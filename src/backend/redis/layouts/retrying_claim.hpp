// A claim of a layout without a queue: the retrying recipe, over the layout's transport.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "backend/redis/layouts/retrying_codec.hpp"
#include "backend/redis/slots.hpp"
#include "backend/redis/transport/reply_handler.hpp"
#include "backend/redis/transport/transport.hpp"
#include "claim/claim_list.hpp"
#include "claim/store_claim.hpp"

namespace holdfast::redis {

class retrying_layout;
class retrying_node;

// The layout's state of a claim.
struct retrying_record : claims::listed_claim, io::counted_claim, message_handler {
  void on_subscribed(time_point now, base::event_queue&) override;
  void on_unsubscribed(time_point now, base::event_queue&) override;
  void on_message(std::string_view payload, time_point now, base::event_queue&) override;

  retrying_node* node = nullptr;  // the server that has the lock
  slot_number slot = 0;           // of the lock, in a cluster
  std::string key;
  std::string seen;                        // what the last step of an attempt read
  std::unique_ptr<subscription> messages;  // from the first wait on, until the lock is held
  retrying_owner owner_id;                 // none: the claim is idle
  time_point owner_since{};                // when it was drawn
  std::chrono::microseconds renewed{};     // see lock_request
  bool was_sent = false;                   // the server may have seen this owner
  bool had_place = false;  // an attempt of this owner was busy: it has or had a place in a queue
  std::uint8_t queueing_tries = 0;  // of this owner, sent: none, one, or more (2)
  bool renewing = false;            // in the node's queue

 protected:
  ~retrying_record() = default;
};

struct retrying_protocol {
  using recipe = retrying_recipe;
  using store = retrying_layout;
  struct request_details {
    void keep(const seam::acquire_request& r) noexcept {
      mode = r.mode;
      permits = r.permits;
      total_permits = r.total_permits;
    }
    lock_mode mode = lock_mode::exclusive;
    std::uint32_t permits = 1, total_permits = 0;
  };
  using record = retrying_record;
};
using retrying_claim = claims::store_claim<retrying_protocol>;

}  // namespace holdfast::redis
