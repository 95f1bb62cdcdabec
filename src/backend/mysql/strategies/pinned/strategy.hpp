// The base of the strategies whose locks a connection holds: a lock ends with the connection that
// took it. Each claim has a connection of its own while it waits or holds; the server queues the
// waiters. What is locked, and by which statements, is in lock_statements.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "backend/mysql/recipes/pinned.hpp"
#include "backend/mysql/strategies/claims_strategy.hpp"
#include "backend/mysql/strategies/pinned/lock_statements.hpp"
#include "backend/mysql/transport/transport.hpp"

namespace holdfast::mysql::pinned {

class strategy;

// The strategy's state of a claim.
struct claim_record : claims::listed_claim, io::counted_claim, pin_handler {
  void on_pinned(session&, time_point now, event_queue&) override;
  void on_pin_failed(const failure&, bool is_final, time_point now, event_queue&) override;
  void on_pin_lost(const failure&, time_point now, event_queue&) override;

  std::string_view group() const noexcept { return key; }

  std::string key;                // of the lock, in statements
  session* connection = nullptr;  // pinned; null: none, as of each idle claim
  bool awaits_pin = false;
  pinned_operation queued{};   // to be sent once there is a connection that is idle
  std::uint64_t dead_id = 0;   // of the connection whose end is awaited, also when idle; 0: none
  std::uint64_t owner_id = 0;  // of the connection that holds, or was the last to hold
  time_point confirmed_at{};   // the send of the last statement that confirmed the lock
  // Why the server did not execute its last statement, which is repeated; null: it did.
  std::unique_ptr<const std::string> obstacle;
  bool has_heartbeat = false;      // one is awaited
  bool is_doubt_reported = false;  // of the doubt, since the last confirmation
  bool has_tried = false;          // with the connection, since the last release
  bool follows_release = false;    // its try is sent once that of the same lock is answered
  bool is_leaving = false;         // its release is not answered

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

// The number of a grant, out of a UUID_SHORT() of the server. It grows as long as the server's
// clock does. 0: it does not fit into a token.
std::int64_t number_of(std::uint64_t uuid_short) noexcept;

class strategy : public claims_strategy<protocol, request, std::string_view> {
 public:
  // lock_store
  void inspect(std::string_view prefix, seam::holders_handler&) final;
  void break_lock(std::string_view name, std::string_view seen, seam::decision_handler&) final;

  // mysql::strategy
  transport::bounds connections() const final {
    return {.commands = 2, .pinned = settings_.connections};
  }
  void detach() noexcept final {}
  void withdraw_all(time_point) final {}
  bool is_settled() const noexcept final { return over_->is_final(env_.now()); }

  // transport_user
  void on_down(const failure&, loss, time_point now, event_queue&) final;
  void on_dead(std::uint64_t id, bool is_certain, time_point now, event_queue&) final;
  void on_tick(time_point now, event_queue&) final;

  // The contract of claims::store_of.
  static pinned_recipe new_recipe() noexcept { return {}; }
  void add(claim&, std::string_view name);
  std::optional<pinned_recipe::reply> submit(claim&, pinned_operation, time_point now,
                                             base::event_queue&);
  void renew_owner(claim&) noexcept {}  // the owner is the connection
  void withdraw_orphan(claim&, time_point now, base::event_queue&);
  void after_step(claim&, time_point now);
  static std::string text_of_owner(const claim& c) { return std::to_string(c.owner_id); }
  std::string reason(const claim& c, errc why) const {
    return why == errc::unavailable && c.obstacle ? *c.obstacle : over_->reason(why);
  }

  // For its claims and requests; with the mutex.
  void on_pinned(claim&, session&, time_point now, event_queue&);
  void on_pin_failed(claim&, const failure&, bool is_final, time_point now, event_queue&);
  void on_pin_lost(claim&, time_point now, event_queue&);
  void on_reply(request&, const sql_reply&, const reply_context&);
  void on_cut(request&, const reply_context&);

 protected:
  // The settings and the statements outlive it.
  strategy(base::environment&, const settings&, const lock_statements&);
  ~strategy() override = default;

 private:
  std::optional<pinned_recipe::reply> remove_from_server(claim&, time_point now);
  void send(claim&, pinned_operation, time_point now);
  void send_statement(claim&, pinned_operation, sql_statement, time_point now, time_point due);
  request& request_of(claim&, pinned_operation);
  void send_create(claim&, time_point now);
  pinned_recipe::reply read(claim&, const request&, const sql_reply&, time_point sent,
                            std::string& text);
  time_point deadline_of(const request&, time_point sent) const noexcept;
  void take_number(const request&, const sql_reply&, pinned_recipe::reply&, std::string& text);
  void on_heartbeat(claim&, const request&, const sql_reply&, const reply_context&);
  void leave_replica(claim&, const reply_context&);
  void leave_connection(claim&, const reply_context&);
  void send_again_later(claim&, pinned_operation, time_point now, event_queue&);
  bool is_being_released(std::string_view key) const;
  void start(claim&, time_point now);
  void start_followers(std::string_view key, time_point now);
  void give_back_connection(claim&, time_point now);
  void give_up_connection(claim&, time_point now);
  void beat(claim&, time_point now, event_queue&);
  duration beat_every(const claim& c) const noexcept { return c.connection->idle_timeout() / 3; }

  const lock_statements& texts_;
  ignored_reply ignored_;
  std::int64_t last_number_ = 0;  // the largest that was drawn for a claim of this client
};

static_assert(claims::store_of<strategy, claim>);

}  // namespace holdfast::mysql::pinned
