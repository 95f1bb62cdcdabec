// Layout `string` at one server: its claims, what they may send now, what waits until it may be
// sent, and what the server is asked for on behalf of all of them.
#pragma once
#include <deque>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include "backend/redis/claim.hpp"
#include "backend/redis/layouts/batch.hpp"
#include "backend/redis/layouts/string/codec.hpp"
#include "backend/redis/layouts/string/grant_rules.hpp"
#include "backend/redis/layouts/string/string_batches.hpp"
#include "backend/redis/settings.hpp"
#include "backend/redis/transport/transport.hpp"
#include "base/timer_heap.hpp"

namespace holdfast::redis {

class link final : private request_source, private message_handler {
 public:
  link(core::environment&, settings);
  ~link();

  std::mutex& mutex() noexcept {
    return group_.mutex();
  }  // guards all, but where it says otherwise
  core::environment& env() const noexcept { return group_.env(); }
  const settings& how() const noexcept { return settings_; }
  std::uint64_t client() const noexcept { return client_; }
  claim_table& claims() noexcept { return claims_; }

  // Sends it as soon as it may go: a take needs a floor, a join somebody who listens to messages.
  void ask(claim&, operation, time_point now);
  bool may_join() const noexcept {
    return over_.is_ready(lane::messages) && over_.is_ready(lane::commands);
  }
  struct tally {        // of claims
    int waiting = 0;    // for an answer or a push
    int pushable = 0;   // a push may come for them
    int listening = 0;  // they hold a lock and would hear that it is wanted
  };
  void count(tally changes, time_point now);
  void renew(claim&);
  bool nothing_older_runs() const noexcept { return over_.no_older_connection_runs(); }
  void tend_by(time_point t) { over_.tick_by(t); }  // when the next orphan is due
  owner_text owner_of(const claim&) const noexcept;
  claims::orphan_withdrawals<orphan>& orphans() noexcept { return orphans_; }

  // The contract of claims::store_of.
  const timing& rules() const noexcept { return settings_.rules; }
  static recipe new_recipe() noexcept { return {}; }
  time_point clock_for_release(const claim&) const { return env().now(); }
  void add(claim&, std::string_view lock);
  void remove(claim&) noexcept;
  static errc refuses(const claim&, claims::verb) noexcept { return {}; }
  std::optional<reply> submit(claim&, operation, time_point now, core::event_queue&);
  static void deliver(time_point, core::event_queue&) noexcept {}  // the outbox is the network
  bool takes_successor(const claim&, operation release,
                       const core::acquire_request& next) const noexcept;
  void submit_with_successor(claim&, claim& next, time_point now);
  void renew_owner(claim&);
  void withdraw_orphan(claim&, time_point now, core::event_queue&);
  void wake_at(claim&, time_point);
  void after_step(claim&, time_point now);
  void request_flush(claims::urgency how) noexcept { request_flush(how == claims::urgency::now); }
  std::string text_of_owner(const claim&) const;
  std::string reason(const claim&, errc) const;
  // A command of somebody else; false when there is no connection.
  bool ask_special(reply_handler&, std::string&& bytes, time_point now);
  std::string why_not() const { return over_.why_not(); }
  duration window(duration ttl) const noexcept {
    return grant_rules::window(ttl, over_.clock().round_trip());
  }

  // For the batches.
  batch_pool<link>& batches() noexcept { return pool_; }
  asking about(const claim&, owner_text& room) const;
  std::string about_holder(const claim&) const;
  void park(claim&, operation);
  void wait_for_group(claim&);  // others of its group have left
  void load_scripts(time_point now);
  void note_clock(time_point sent, server_time at, time_point now) noexcept {
    over_.note_clock(sent, at, now);
  }
  // The error stands beside it as the server gave it.
  void answer(claims::claim_place, reply, std::string_view error, const reply_context&);
  void on_reply(batch<link>&, const value&, const reply_context&);
  void on_not_executed(batch<link>&, const reply_context&);
  void on_cut(batch<link>&, const reply_context&);

  // Without the lock.
  bool is_out() const noexcept { return over_.is_out(); }  // any thread, with any lock
  core::reach read_reach();
  void hurry() noexcept;  // a caller's time is nearly over: connects now instead of later
  void flush() noexcept { group_.flush(); }
  void request_flush(bool at_once) noexcept { group_.request_flush(at_once); }
  core::caller_driver* driver() noexcept { return group_.driver(); }
  // Waits until the server has been greeted. Throws lock_error; canceled when it is stopped.
  void open_first(std::stop_token);
  // Waits until nothing is left unanswered, or until then; afterwards nothing is sent any more.
  void settle(time_point until);
  void forked() noexcept { group_.forked(); }
  bool is_forked() const noexcept { return group_.is_forked(); }

 private:
  struct raise_answer;

  // request_source
  void write_requests(transport&, lane, request_writer&) override;
  void on_ready(transport&, lane, time_point now, core::event_queue&) override;
  void on_down(transport&, lane, const core::failure&, loss, time_point now,
               core::event_queue&) override;
  void on_silent(transport&, lane, time_point now) override { watch_outage(now); }
  void on_data_in_doubt(transport&) override { floor_.forget(); }
  void on_tick(transport&, time_point now, core::event_queue&) override;
  bool is_open(const transport&) const noexcept override { return !raising_; }
  bool is_settled() const noexcept override { return orphans_.empty(); }
  bool is_in_use() const noexcept override { return claims_.has_ids(); }

  // message_handler
  void on_subscribed(time_point now, core::event_queue&) override;
  void on_message(std::string_view payload, time_point now, core::event_queue&) override;

  bool may_send(const claim&, operation) const noexcept;
  template <class Each>
  void review_parked(Each goes_on);
  void send_parked(time_point now);
  void fail_unproven(const core::failure&, time_point now, core::event_queue&);
  void fail_attempts(lane, const core::failure&, time_point now, core::event_queue&);
  void fail_waiting(lane, const core::failure&, time_point now, core::event_queue&);
  void end_waits(time_point now, core::event_queue&);
  void put_off(std::string why, time_point now);
  void raise_later(time_point now);
  void raise_if_due(time_point now);
  void hurry(time_point by);
  void watch_outage(time_point now);
  template <class Which>
  void fail_parked(Which, const core::failure&, time_point now, core::event_queue&);
  void send_group(claims::claim_group<claim>&, time_point now);
  void drop_owner(claim&) noexcept;
  void raise(time_point now);
  struct round;
  bool renewals_go_with_commands() const noexcept;
  void write_renewals(request_writer&, time_point now);
  void add_renewal(round&, claim&);
  void send_renewals(round&, bool of_members, request_writer&, time_point now);
  void answer_renewals(batch<link>&, const value&, const reply_context&);
  void repeat_renewals(batch<link>&);
  void end_renewals(batch<link>&) noexcept;
  duration sample_age_max() const noexcept;
  void end_overdue(time_point now, core::event_queue&);
  void wake_sleepers(time_point now, core::event_queue&);
  void keep_sample(time_point now);
  void decline(std::string_view owner, std::string_view lock, time_point now);

  const settings settings_;
  transport_group group_;
  const std::uint64_t client_;
  transport over_;
  claim_table claims_;
  number_floor floor_;
  claims::orphan_withdrawals<orphan> orphans_;
  claims::group_barrier<claims::claim_group<claim>> groups_;
  std::vector<claims::claim_place> parked_;  // claims whose question may not go yet
  core::timer_heap sleepers_;                // claims
  batch_pool<link> pool_{*this};
  string_batches collected_{*this};
  std::deque<claims::claim_place> to_renew_;
  std::size_t renewals_in_flight_ = 0;  // batches
  std::unique_ptr<raise_answer> raise_answer_;
  int pushable_ = 0;
  bool raising_ = false;
  time_point hurried_at_{};            // for waiters whose outage-timeout was nearly over
  time_point raise_at_ = core::never;  // again, since the server put it off
  unsigned raises_ = 0;                // that were put off in a row
  std::unique_ptr<subscription> pushes_;
};

}  // namespace holdfast::redis
