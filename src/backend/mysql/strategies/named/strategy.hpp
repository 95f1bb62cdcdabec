// Strategy `named`: a lock is a named lock of the server (GET_LOCK), and ends with the connection
// that took it. Each claim has a connection of its own while it waits or holds; the server queues
// the waiters.
#pragma once
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backend/mysql/settings.hpp"
#include "backend/mysql/strategies/named/claim.hpp"
#include "backend/mysql/strategies/named/statements.hpp"
#include "backend/mysql/strategies/strategy.hpp"

namespace holdfast::mysql::named {

// Not breakable: KILL names a connection, which may hold another lock by then.
inline constexpr seam::capabilities abilities{
    .life = seam::lifetime::connection,
    .queue = seam::order::none,
    .wanted = seam::contention_signal::silent,
    .modes = seam::bit_of(lock_mode::exclusive),
    .tokens = true,
    .durable = true,
    .processes = true,
};

class strategy final : public mysql::strategy, public claims::store_defaults {
 public:
  // The settings outlive it.
  strategy(base::environment&, const settings&);

  // lock_store
  const seam::capabilities& can() const noexcept override { return abilities; }
  std::unique_ptr<seam::claim> open(std::string_view name, seam::claim_sink&) override;
  void inspect(std::string_view prefix, seam::holders_handler&) override;
  void holders(std::string_view name, seam::holders_handler&) override;
  void break_lock(std::string_view name, std::string_view seen, seam::decision_handler&) override;

  // mysql::strategy
  transport::bounds connections() const override {
    return {.commands = 2, .pinned = settings_.connections};
  }
  void attach(transport& t) override { over_ = &t; }
  void detach() noexcept override {}
  void withdraw_all(time_point) override {}
  bool is_settled() const noexcept override { return over_->is_final(env_.now()); }
  void end_claims(errc, const std::string& why, time_point now, base::event_queue&) override;
  bool is_dispatching() const override { return claims_.is_dispatching(); }

  // transport_user
  void on_ready(time_point, event_queue&) override { opened_.emplace(); }
  void on_down(const failure&, loss, time_point now, event_queue&) override;
  void on_dead(std::uint64_t id, bool is_certain, time_point now, event_queue&) override;
  void on_tick(time_point now, event_queue&) override;
  std::optional<failure> opened() const override { return opened_; }

  // The contract of claims::store_of.
  std::mutex& mutex() noexcept { return over_->mutex(); }
  base::environment& env() const noexcept { return env_; }
  const claims::timing& rules() const noexcept { return settings_.rules; }
  bool is_forked() const noexcept { return over_->is_forked(); }
  static named_recipe new_recipe() noexcept { return {}; }
  time_point clock_for_release(const claim&) const { return env_.now(); }
  void add(claim&, std::string_view name);
  void remove(claim&) noexcept;
  std::optional<named_recipe::reply> submit(claim&, named_operation, time_point now,
                                            base::event_queue&);
  void renew_owner(claim&) noexcept {}  // the owner is the connection
  void withdraw_orphan(claim&, time_point now, base::event_queue&);
  void wake_at(claim&, time_point);
  void after_step(claim&, time_point now);
  void request_flush(claims::urgency how) noexcept {
    over_->reactor().request_flush(how == claims::urgency::now);
  }
  static std::string text_of_owner(const claim& c) { return std::to_string(c.owner_id); }
  std::string reason(const claim&, errc why) const { return over_->reason(why); }

  // For its claims and requests; with the mutex.
  void on_pinned(claim&, session&, time_point now, event_queue&);
  void on_pin_failed(claim&, const failure&, bool is_final, time_point now, event_queue&);
  void on_pin_lost(claim&, time_point now, event_queue&);
  void on_reply(request&, const sql_reply&, const reply_context&);
  void on_cut(request&, const reply_context&);

 private:
  request& take_request();
  void give_back(request& r) noexcept { spare_.push_back(&r); }
  std::optional<named_recipe::reply> remove_from_server(claim&, time_point now);
  void send(claim&, named_operation, time_point now);
  void send_statement(claim&, named_operation, std::string statement, time_point now,
                      time_point due);
  named_recipe::reply read(claim&, const request&, const sql_reply&, time_point sent,
                           std::string& text);
  void take_number(claim&, const sql_reply&, named_recipe::reply&, std::string& text) const;
  void on_heartbeat(claim&, const request&, const sql_reply&, const reply_context&);
  void give_up_connection(claim&, time_point now);
  void beat(claim&, time_point now, event_queue&);
  duration beat_every(const claim& c) const noexcept { return c.connection->idle_timeout() / 3; }
  void watch_outage(time_point now);

  base::environment& env_;
  const settings& settings_;
  const statements texts_;
  transport* over_ = nullptr;  // while it is attached
  claims::claim_list<claim> claims_;
  std::vector<std::unique_ptr<request>> requests_;
  std::vector<request*> spare_;
  std::optional<failure> opened_;
};

static_assert(claims::store_of<strategy, claim>);

}  // namespace holdfast::mysql::named
