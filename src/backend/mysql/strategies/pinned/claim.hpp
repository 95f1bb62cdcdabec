// A claim on a lock that a connection holds: it has a connection of its own while it waits or
// holds.
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "backend/mysql/recipes/pinned.hpp"
#include "backend/mysql/transport/transport.hpp"
#include "claim/claim_list.hpp"
#include "claim/store_claim.hpp"

namespace holdfast::mysql::pinned {

class strategy;

// The strategy's state of a claim.
struct claim_record : claims::listed_claim, io::counted_claim, pin_handler {
  void on_pinned(session&, time_point now, event_queue&) override;
  void on_pin_failed(const failure&, bool is_final, time_point now, event_queue&) override;
  void on_pin_lost(const failure&, time_point now, event_queue&) override;

  std::string_view group() const noexcept { return key; }

  std::string key;                // of the lock, in statements
  session* connection = nullptr;  // pinned; null: none
  bool awaits_pin = false;
  pinned_operation queued{};   // to be sent once there is a connection that is idle
  std::uint64_t dead_id = 0;   // of the connection whose end is awaited; 0: of none
  std::uint64_t owner_id = 0;  // of the connection, while it holds
  time_point confirmed_at{};   // the send of the last statement that confirmed the lock
  // Why the server did not execute its last statement, which is repeated; null: it did.
  std::unique_ptr<const std::string> obstacle;
  bool has_heartbeat = false;    // one is awaited
  bool is_told = false;          // of the doubt, since the last confirmation
  bool has_tried = false;        // with the connection, since the last release
  bool follows_release = false;  // its try is sent once that of the same lock is answered
  bool is_leaving = false;       // its release is not answered

 protected:
  ~claim_record() = default;
};

struct protocol {
  using recipe = pinned_recipe;
  using store = strategy;
  struct request_details {
    void keep(const seam::acquire_request& r) noexcept { mode = r.mode; }
    lock_mode mode = lock_mode::exclusive;
  };
  using record = claim_record;
  static constexpr bool extends_unasked = true;
};
using claim = claims::store_claim<protocol>;

// One statement of a claim, until it is answered.
class request final : public statement_handler {
 public:
  explicit request(strategy& s) noexcept : home_(s) {}

  claims::claim_handle whose;
  pinned_operation to{};  // none: a heartbeat, or the end of a try
  std::uint32_t epoch = 0;
  std::uint64_t connection = 0;  // its id
  duration idle_timeout{};       // of the connection
  std::int64_t floor = 0;        // the largest number that was drawn before it was sent

 private:
  void on_reply(const sql_reply&, const reply_context&) override;
  void on_cut(const failure&, const reply_context&) override;

  strategy& home_;
};

}  // namespace holdfast::mysql::pinned
