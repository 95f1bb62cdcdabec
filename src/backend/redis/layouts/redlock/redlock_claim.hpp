// A claim on a lock of Redlock: the retrying recipe, whose requests go to all servers at once.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backend/redis/layouts/retrying_codec.hpp"
#include "backend/redis/transport/transport.hpp"
#include "claim/claim_list.hpp"
#include "claim/store_claim.hpp"

namespace holdfast::redis {

class redlock_layout;

// The layout's state of a claim.
struct redlock_record : claims::listed_claim, message_handler {
  // From the connections to all servers.
  void on_subscribed(time_point now, base::event_queue&) override;
  void on_message(std::string_view payload, time_point now, base::event_queue&) override;

  std::string key;
  // As the servers have it; empty: the claim is idle. Each attempt has another one.
  std::string owner_text;
  bool is_asked = false;  // an attempt was made with this owner
  // One bit for each server: it was asked under this owner, and has not answered.
  std::uint16_t unanswered_at = 0;
  std::uint16_t asked_at = 0;  // likewise: it was asked to set the lock
  // How many attempts it has lost lately: one more with each, one less with each grant.
  std::uint8_t lost_lately = 0;
  // So many of the next attempts ask one server first: the lock was busy lately. Clients that ask
  // all servers at the same time divide them among themselves, and nobody gets the lock.
  std::uint8_t leads = 0;
  // The owner that the first server has named last. Where it stays the same, the lock may be free
  // at the others: the next attempt asks all.
  std::uint64_t refused_by = 0;
  bool asks_all = false;
  std::uint8_t withdrawals = 0;   // of others that made it try, since the last release
  bool hears_withdrawal = false;  // one came while an attempt was under way
  bool is_waiting = false;        // counted among those that wait for a reply
  bool is_listening = false;      // counted among those for which connections are read
  // From each server, from the first wait on, until the lock is held.
  std::vector<std::unique_ptr<subscription>> messages;
  std::string heard_of;  // the owner whose release was last heard of: each server tells it

 protected:
  ~redlock_record() = default;
};

struct redlock_protocol {
  using recipe = retrying_recipe;
  using store = redlock_layout;
  struct request_details {
    void keep(const seam::acquire_request&) noexcept {}
  };
  using record = redlock_record;
};
using redlock_claim = claims::store_claim<redlock_protocol>;

}  // namespace holdfast::redis
