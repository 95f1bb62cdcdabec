// A claim on a lock of Redlock: the retrying recipe, whose requests go to all servers at once.
#pragma once
#include <cstddef>
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

constexpr std::uint16_t bit_of(std::size_t server) noexcept {
  return static_cast<std::uint16_t>(1u << server);
}

// The layout's state of a claim.
struct redlock_record : claims::listed_claim, io::counted_claim, message_handler {
  // From the connections to all servers.
  void on_subscribed(time_point now, base::event_queue&) override;
  void on_message(std::string_view payload, time_point now, base::event_queue&) override;

  std::string key;
  // As the servers have it; empty: the claim is idle. Each attempt has another one.
  std::string owner_text;
  // A bit for each server that was asked to set the lock for this owner, and for each of these that
  // may still do it, because it has not answered.
  std::uint16_t asked_at = 0, unanswered_at = 0;
  // How many attempts it has lost lately: one more with each, one less with each grant.
  std::uint8_t lost_lately = 0;
  // The lock was busy lately: this many attempts from here on ask one server first. Clients that
  // ask all servers at the same time divide them among themselves, and nobody gets the lock.
  std::uint8_t leads = 0;
  // The owner that the first server has named last. Where it stays the same, the lock may be free
  // at the others: the next attempt asks all.
  std::uint64_t refused_by = 0;
  bool asks_all = false;
  std::uint8_t withdrawals = 0;   // of others that made it try, since the last release
  bool hears_withdrawal = false;  // one came while an attempt was under way
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
