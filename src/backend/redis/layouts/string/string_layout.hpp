// Layout `string` at one server: its claims, what they may send now, what is deferred, and what is
// sent on behalf of all of them. The algorithm of one claim is the recipe
// (recipes/queueing.hpp); what may be believed is in grant_rules.hpp.
//
// When the connection for commands is ready, in this order: the floor is void, the connection for
// messages is opened, scripts are loaded, orphans are withdrawn, the counter is raised, and what is
// deferred is sent.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backend/redis/guarded_values.hpp"
#include "backend/redis/layouts/batch.hpp"
#include "backend/redis/layouts/layout.hpp"
#include "backend/redis/layouts/string/codec.hpp"
#include "backend/redis/layouts/string/grant_rules.hpp"
#include "backend/redis/layouts/string/needs.hpp"
#include "backend/redis/layouts/string/renewals.hpp"
#include "backend/redis/layouts/string/string_batches.hpp"
#include "backend/redis/layouts/string/string_claim.hpp"
#include "backend/redis/settings.hpp"

namespace holdfast::redis {

class string_layout final : public layout,
                            public claims::store_defaults,
                            private guarded_values,
                            private message_handler {
 public:
  string_layout(io::client_reactor&, const settings&);  // the settings outlive it
  ~string_layout() override;

  // layout
  const core::capabilities& can() const noexcept override;
  std::string name_fault(std::string_view name) const override;
  std::unique_ptr<core::claim> open(std::string_view name, core::claim_sink&) override;
  bool can_lock_all(std::span<const std::string_view>) const override { return true; }
  void inspect(std::string_view prefix, core::holders_handler&) override;
  void holders(std::string_view name, core::holders_handler&) override;
  void break_lock(std::string_view name, std::string_view seen, core::decision_handler&) override;
  layout_needs needs() const override { return needs_of_string(); }
  void attach(topology&) override;
  void detach() noexcept override;
  void retry_now(time_point now) override { retry_by(now); }
  void withdraw_all(time_point now) override;
  void end_claims(errc code, const std::string& why, time_point now,
                  core::event_queue& events) override {
    claims_.give_up_all(code, why, now, events);
  }
  bool is_dispatching() const override { return claims_.is_dispatching(); }

  // request_source
  void write_requests(transport&, lane, request_writer&) override;
  void on_ready(transport&, lane, time_point now, core::event_queue&) override;
  void on_down(transport&, lane, const core::failure&, loss, time_point now,
               core::event_queue&) override;
  void on_silent(transport&, lane, time_point now) override { watch_outage(now); }
  void on_agreed(transport&, time_point now) override { send_deferred(now); }
  void on_data_in_doubt(transport&) override { floor_.forget(); }
  void on_tick(transport&, time_point now, core::event_queue&) override;
  bool is_open(const transport&) const noexcept override { return !is_raising_; }
  bool is_settled() const noexcept override { return orphans_.empty(); }
  bool is_in_use() const noexcept override { return claims_.has_ids(); }

  // The contract of claims::store_of.
  std::mutex& mutex() noexcept { return reactor_.mutex(); }
  core::environment& env() const noexcept { return reactor_.env(); }
  bool is_forked() const noexcept { return reactor_.is_forked(); }
  void request_flush(claims::urgency how) noexcept {
    reactor_.request_flush(how == claims::urgency::now);
  }
  const timing& rules() const noexcept { return settings_.rules; }
  static queueing_recipe new_recipe() noexcept { return {}; }
  time_point clock_for_release(const claim&) const { return env().now(); }
  void add(claim&, std::string_view lock);
  void remove(claim&) noexcept;
  std::optional<reply> submit(claim&, operation, time_point now, core::event_queue&);
  bool takes_successor(const claim&, operation release,
                       const core::acquire_request& next) const noexcept;
  void submit_with_successor(claim&, claim& next, time_point now);
  void renew_owner(claim&);
  void withdraw_orphan(claim&, time_point now, core::event_queue&);
  void wake_at(claim&, time_point);
  void after_step(claim&, time_point now);
  std::string text_of_owner(const claim&) const;
  std::string reason(const claim&, errc why) const { return over_->reason(why); }

  // For its batches, renewals and orphans; with the reactor's mutex held.
  transport& over() noexcept { return *over_; }
  claim_list& claims() noexcept { return claims_; }
  batch_pool<string_layout>& batches() noexcept { return pool_; }
  claims::orphan_withdrawals<orphan>& orphans() noexcept { return orphans_; }
  owner_text owner_of(const claim&) const noexcept;
  lock_arguments arguments_of(const claim&, owner_text& room) const;
  std::string holder_info(const claim&) const;
  duration window(duration ttl) const noexcept {
    return grant_rules::window(ttl, over_->clock().round_trip());
  }
  bool no_older_connection_runs() const noexcept { return over_->no_older_connection_runs(); }
  // Sends it as soon as it may be sent (grant_rules::may_send).
  void send(claim&, operation, time_point now);
  void defer(claim&, operation);
  void wait_for_group(claim&);  // others of its group have left
  // `error`: the text that the server gave with it.
  void answer(claims::claim_handle, reply, std::string_view error, const reply_context&);
  void on_reply(batch<string_layout>&, const value&, const reply_context&);
  void on_not_executed(batch<string_layout>&, const reply_context&);
  void on_cut(batch<string_layout>&, const reply_context&);

 private:
  class raise_reply;

  void* find_extension(const std::type_info& wanted) noexcept override {
    return offer<guarded_values>(*this, wanted);
  }
  void write(const guarded_write&, core::decision_handler&) override;
  void on_subscribed(time_point now, core::event_queue&) override;
  void on_message(std::string_view payload, time_point now, core::event_queue&) override;

  bool may_queue() const noexcept {
    return over_->is_ready(lane::messages) && over_->is_ready(lane::commands);
  }
  bool may_send(const claim&, operation) const noexcept;
  void load_scripts(time_point now);
  void confirm_leases(time_point now, core::event_queue&);
  void decline(std::string_view owner, std::string_view lock, time_point now);
  void drop_owner(claim&) noexcept;
  void count(claim&, time_point now);

  // The deferred claims; those for which `stays` is true remain deferred.
  template <class Stays>
  void review_deferred(Stays stays);
  void send_deferred(time_point now);
  void send_group(claims::claim_group<claim>&, time_point now);
  template <class Which>
  void fail_deferred(Which, const core::failure&, time_point now, core::event_queue&);
  void fail_unproven(const core::failure&, time_point now, core::event_queue&);
  void fail_attempts(lane, const core::failure&, time_point now, core::event_queue&);
  void fail_waiting(lane, const core::failure&, time_point now, core::event_queue&);
  void end_overdue(time_point now, core::event_queue&);
  void end_waits(time_point now, core::event_queue&);

  // The counter is raised to the server's clock: without that no number proves anything.
  void raise(time_point now);
  void raise_later(time_point now);  // the server put it off
  void raise_if_due(time_point now);

  void retry_by(time_point);
  void put_off(std::string why, time_point now);
  void watch_outage(time_point now);
  void keep_sample(time_point now);
  duration sample_age_max() const noexcept { return window(duration::max()) / 2; }

  io::client_reactor& reactor_;
  const settings& settings_;
  const std::uint64_t client_;
  transport* over_ = nullptr;  // while it is attached
  std::unique_ptr<subscription> pushes_;
  claim_list claims_;
  number_floor floor_;
  claims::orphan_withdrawals<orphan> orphans_;
  claims::group_barrier<claims::claim_group<claim>> groups_;
  std::vector<claims::claim_handle> deferred_;  // claims whose request may not be sent yet
  batch_pool<string_layout> pool_{*this};
  string_batches collected_{*this};
  renewals renewals_{*this};
  const std::unique_ptr<raise_reply> raise_reply_;
  int pushable_ = 0;  // claims that may be sent a push
  bool is_raising_ = false;
  time_point raise_at_ = core::never;  // again, since the server put it off
  unsigned raises_ = 0;                // that were put off in a row
};

}  // namespace holdfast::redis
