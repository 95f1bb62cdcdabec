// The base of the strategies whose locks are rows. A lease ends by the server's clock. It is held
// by no connection, so any connection of the pool may send for it, and waiters poll.
//
// Each strategy derives from it, and defines its tables and the steps of a try.
#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "backend/mysql/strategies/claims_strategy.hpp"
#include "backend/mysql/strategies/retrying/claim.hpp"
#include "backend/mysql/strategies/retrying/statements.hpp"

namespace holdfast::mysql::retrying {

// Waiters poll, and a client that used the lock for a while without a pause leaves it free for
// them. An attempt that found its own owner is granted again.
inline constexpr claims::retrying_recipe::rules polling{.try_is_idempotent = true,
                                                        .share_after = std::chrono::milliseconds{5},
                                                        .share_max =
                                                            std::chrono::milliseconds{128}};

// How many holders of one client may have a lock in a row while another client waits: a hand-over
// to the other client costs two commits.
inline constexpr std::uint32_t turns_in_a_row = 1024;

class strategy : public claims_strategy<protocol, request>, private seam::unused_locks {
 public:
  // lock_store
  void inspect(std::string_view prefix, seam::holders_handler&) override;
  void holders(std::string_view name, seam::holders_handler&) override;
  void break_lock(std::string_view name, std::string_view seen, seam::decision_handler&) override;

  // mysql::strategy
  transport::bounds connections() const override { return {.commands = settings_.connections}; }
  void detach() noexcept override { orphans_.drop_all(); }
  void withdraw_all(time_point now) override { orphans_.resend_all(now); }
  bool is_settled() const noexcept override { return orphans_.empty(); }

  // transport_user
  void on_down(const failure&, loss, time_point now, event_queue&) override;
  void on_dead(std::uint64_t, bool, time_point now, event_queue&) override;
  void on_tick(time_point now, event_queue&) override;

  // The contract of claims::store_of.
  claims::retrying_recipe new_recipe() const noexcept {
    return claims::retrying_recipe(rules_of_claims_);
  }
  void add(claim&, std::string_view name);
  std::optional<claims::retrying_reply> submit(claim&, claims::retrying_operation, time_point now,
                                               base::event_queue&);
  void renew_owner(claim&);
  void withdraw_orphan(claim&, time_point now, base::event_queue&);
  void after_step(claim&, time_point now);
  virtual bool is_release_urgent(const claim&) const noexcept { return false; }
  std::string text_of_owner(const claim& c) const { return guarded_owner(c); }
  std::string reason(const claim&, errc why) const;

  // Statements of one lock have the same `order` of transport::submit().
  static std::size_t order_of(const std::string& name) noexcept;

  // For its requests and orphans; with the mutex.
  bool has_requester(const request&) const noexcept;
  void on_reply(request&, const sql_reply&, const reply_context&);
  void on_cut(request&, const reply_context&);
  static void note_obstacle(claim&, const claims::retrying_reply&, const std::string& text);
  const statements& texts() const noexcept { return texts_; }
  claims::orphan_withdrawals<orphan>& orphans() noexcept { return orphans_; }

 protected:
  // The settings, the statements and the rules outlive it.
  strategy(base::environment&, const settings&, const statements&,
           const claims::retrying_recipe::rules&);

  // The reply to a step of a try. next_step: the next one is sent.
  virtual claims::retrying_reply read_try(claims::claim_handle whose, const sql_reply&,
                                          std::uint8_t step, claims::retrying_reply) = 0;
  // The reply to a release: what it says about other clients.
  virtual void read_release(claim&, const sql_reply&, claims::retrying_reply&) {}
  // True: it sends for this claim itself, and answers the claim, or has answered it by `answer`.
  virtual bool sends_by_itself(claim&, claims::retrying_operation, time_point,
                               std::optional<claims::retrying_reply>& answer) {
    (void)answer;
    return false;
  }
  virtual std::string guarded_owner(const claim& c) const { return base::text_of(c.owner_id); }
  virtual void on_step(claim&, time_point) {}  // the recipe is in another state, perhaps
  lock_request request_of(const claim&, const std::string& owner) const;
  claim* claim_at(claims::claim_handle h) const noexcept { return claims_.at(h); }

 private:
  void* find_extension(const std::type_info& wanted) noexcept override {
    return offer<seam::unused_locks>(*this, wanted);
  }
  void remove_unused(seam::result_handler<std::size_t>&) override;
  sql_statement statement_for(const claim&, claims::retrying_operation, std::uint8_t step) const;
  bool looks_for_reason(request&, const sql_reply&, const reply_context&);

  const statements& texts_;
  const claims::retrying_recipe::rules& rules_of_claims_;
  claims::orphan_withdrawals<orphan> orphans_;
};

static_assert(claims::store_of<strategy, claim>);

}  // namespace holdfast::mysql::retrying
