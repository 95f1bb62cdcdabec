// The transport: one client's speech with the server. Three connections: one for commands, which
// all callers share in one pipeline, one for messages, one for renewals, which nothing else may
// hold up. Events come from whoever drives; claims are told of theirs after the lock is let go.
#pragma once
#include <deque>
#include <mutex>
#include <stop_token>
#include <utility>
#include <vector>

#include "backend/redis/claim_table.hpp"
#include "backend/redis/layouts/batch.hpp"
#include "backend/redis/layouts/string/codec.hpp"
#include "backend/redis/layouts/string/grant_rules.hpp"
#include "backend/redis/layouts/string/string_batches.hpp"
#include "backend/redis/orphan_withdrawals.hpp"
#include "backend/redis/transport/connection.hpp"
#include "backend/redis/transport/reachability.hpp"
#include "backend/redis/transport/server_clock.hpp"
#include "backend/redis/transport/transport_group.hpp"
#include "base/timer_heap.hpp"

namespace holdfast::redis {

class link final : private line_owner, private group_member {
 public:
  link(core::environment&, settings);
  ~link();

  std::mutex& mutex() noexcept {
    return group_.mutex();
  }  // guards all below but what says otherwise
  core::environment& env() override { return group_.env(); }
  const settings& how() const noexcept { return settings_; }
  std::uint64_t client() const noexcept { return client_; }
  claim_table& claims() noexcept { return claims_; }

  // Sends it as soon as it may go: a take needs a floor, a join somebody who listens to messages.
  void ask(claim&, operation, time_point now);
  void ask_release(claim&, claim& next, time_point now);
  bool may_join() const noexcept { return messages_.ready() && commands_.ready(); }
  void sleep(claim&, time_point wake);  // never: no more
  struct tally {                        // of claims
    int waiting = 0;                    // for an answer or a push
    int pushable = 0;                   // a push may come for them
    int listening = 0;                  // they hold a lock and would hear that it is wanted
  };
  void count(tally changes, time_point now);
  void renew(claim&);
  bool nothing_older_runs() const noexcept { return commands_.is_sole(); }
  void tend_by(time_point t) { wake_by(t); }
  // A command of somebody else; false when there is no connection.
  bool ask_special(answerer&, std::string&& bytes, time_point now);
  std::string why_not() const;  // what is known of a connection that is not there
  bool is_ready() const noexcept { return commands_.ready(); }
  duration window(duration ttl) const noexcept {
    return grant_rules::window(ttl, clock_.round_trip());
  }

  // For the batches.
  batch_pool<link>& batches() noexcept { return pool_; }
  asking about(const claim&, owner_text& room) const;
  std::string about_holder(const claim&) const;
  void park(claim&, operation);
  void teach(time_point now);
  void note_clock(time_point sent, server_time at, time_point now) noexcept {
    clock_.note(sent, at, now);
  }
  // The error stands beside it as the server gave it.
  void answer(claim_table::place, reply, std::string_view error, const reply_context&);
  void on_reply(batch<link>&, const value&, const reply_context&);
  void on_not_executed(batch<link>&, const reply_context&);
  void on_cut(batch<link>&, const reply_context&);

  // Without the lock.
  bool is_out() const noexcept { return reach_.is_out(); }  // any thread, with any lock
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
  ledger& unclear() noexcept { return ledger_; }

 private:
  struct raise_answer;
  struct time_answer;
  struct memory_answer;

  // line_owner
  void on_ready(line&, time_point now, core::event_queue&) override;
  void on_data_in_doubt(line&) override { floor_.forget(); }
  void on_message(line&, const value&, time_point now, core::event_queue&) override;
  void on_down(line&, const core::failure&, loss, time_point now, core::event_queue&) override;
  void on_silent(line&, time_point now) override;
  void on_heard(line& x, time_point now) override { reach_.on_heard(x.what(), now); }
  std::shared_ptr<wire> connect(line&, core::failure& why) override;
  void wake_by(time_point t) override { group_.wake_by(t); }

  // group_member
  void flush(std::unique_lock<std::mutex>&) noexcept override;
  void flush_renewals(std::unique_lock<std::mutex>&) noexcept override;
  void on_alarm(time_point now, core::event_queue&) override;
  bool has_unattended_replies() const noexcept override {
    return commands_.awaits() || messages_.awaits();
  }
  bool is_open() const noexcept override { return commands_.ready() && !raising_; }
  core::failure why_not_open(bool is_overdue) const override;
  bool is_settled() const noexcept override { return ledger_.empty(); }

  void write(line&, std::unique_lock<std::mutex>&) noexcept;
  bool may_send(const claim&, operation) const noexcept;
  template <class Each>
  void review_parked(Each goes_on);
  void send_parked(time_point now);
  void fail_unproven(const core::failure&, time_point now, core::event_queue&);
  void fail_attempts(const line&, const core::failure&, time_point now, core::event_queue&);
  void fail_waiting(const line&, const core::failure&, time_point now, core::event_queue&);
  void end_waits(time_point now, core::event_queue&);
  void put_off(std::string why, time_point now);
  void raise_later(time_point now);
  void raise_if_due(time_point now);
  void hurry(time_point by);
  void watch_outage(time_point now);
  template <class Which>
  void fail_parked(Which, const core::failure&, time_point now, core::event_queue&);
  void ask_for_eviction(time_point now);
  void gather_if_whole(const core::lock_group&, time_point now);
  void raise(time_point now);
  struct round;
  bool renewals_go_with_commands() const noexcept;
  void encode_renewals(line& over, time_point now);
  void add_renewal(round&, claim&);
  void send_renewals(round&, bool of_members, line& over, time_point now);
  void answer_renewals(batch<link>&, const value&, const reply_context&);
  void repeat_renewals(batch<link>&);
  void end_renewals(batch<link>&) noexcept;
  void probe_messages(time_point now);
  duration sample_age_max() const noexcept;
  void end_overdue(time_point now, core::event_queue&);
  void wake_sleepers(time_point now, core::event_queue&);
  void keep_sample(time_point now);
  void decline(std::string_view owner, std::string_view lock, time_point now);

  const settings settings_;
  transport_group group_;
  const std::uint64_t client_;
  line commands_, messages_, renewals_;
  claim_table claims_;
  server_clock clock_;
  number_floor floor_;
  ledger ledger_{*this};
  std::vector<claim_table::place> parked_;  // claims whose question may not go yet
  core::timer_heap sleepers_;               // claims
  batch_pool<link> pool_{*this};
  string_batches collected_{*this};
  std::deque<claim_table::place> to_renew_;
  std::size_t renewals_in_flight_ = 0;  // batches
  std::unique_ptr<raise_answer> raise_answer_;
  std::unique_ptr<time_answer> time_answer_, probe_answer_;
  std::unique_ptr<memory_answer> memory_answer_;
  time_point probed_{};
  int pushable_ = 0;
  reachability reach_;
  bool raising_ = false;
  time_point hurried_at_{};            // for waiters whose outage-timeout was nearly over
  time_point raise_at_ = core::never;  // again, since the server put it off
  unsigned raises_ = 0;                // that were put off in a row
  bool sampling_ = false;
  bool renew_by_text_ = false, renew_members_by_text_ = false;
};

}  // namespace holdfast::redis
