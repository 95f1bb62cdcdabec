// Redlock: a lock is held where a majority of independent masters has it. All are asked at once,
// and one that is slow or dead delays nobody while a majority answers. The algorithm of a claim is
// the retrying recipe; one of its requests is a round (redlock_round.hpp), which has one answer.
//
//   round     | votes                               | answer
//   ----------+-------------------------------------+------------------------------------------
//   attempt   | a majority with one number          | granted, with that number
//             | a majority with several numbers     | none: the lower ones are raised first
//             | no majority is possible, and a      | busy: withdrawn, and tried again after a
//             | majority has answered               | message or a random pause
//             | no majority is possible, and too    | no_quorum, or for a waiter: not now
//             | few have answered                   |
//   renewal   | a majority                          | extended, from before the first was sent
//             | a majority has another owner        | lost
//   release,  | a majority has deleted it           | done; elsewhere it is deleted in background
//   withdrawal| a majority did not have it          | not held
//
// Every attempt has an owner of its own: nothing of an earlier one can count for it.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backend/redis/layouts/layout.hpp"
#include "backend/redis/layouts/redlock/codec.hpp"
#include "backend/redis/layouts/redlock/redlock_claim.hpp"
#include "backend/redis/layouts/redlock/redlock_node.hpp"
#include "backend/redis/layouts/redlock/redlock_round.hpp"

namespace holdfast::redis {

class redlock_layout final : public claims_layout<redlock_claim> {
 public:
  redlock_layout(io::client_reactor&, const settings&);  // the settings outlive it

  // layout
  const seam::capabilities& can() const noexcept override { return can_; }
  std::string name_fault(std::string_view name) const override { return codec_.name_fault(name); }
  std::unique_ptr<seam::claim> open(std::string_view name, seam::claim_sink&) override;
  void inspect(std::string_view prefix, seam::holders_handler&) override;
  void on_keys_moved(time_point, base::event_queue&) override {}  // each server has all
  void holders(std::string_view name, seam::holders_handler&) override;
  void break_lock(std::string_view name, std::string_view seen, seam::decision_handler&) override;
  layout_needs needs() const override { return codec_.facts().needs; }
  bool is_settled() const noexcept override;

  // The contract of claims::store_of.
  retrying_recipe new_recipe() const noexcept { return retrying_recipe(codec_.facts().rules); }
  void add(redlock_claim&, std::string_view key);
  void remove(redlock_claim&) noexcept;
  std::optional<retrying_reply> submit(redlock_claim&, retrying_operation, time_point now,
                                       base::event_queue&);
  void renew_owner(redlock_claim&);
  void withdraw_orphan(redlock_claim&, time_point now, base::event_queue&);
  void after_step(redlock_claim&, time_point now);
  static std::string text_of_owner(const redlock_claim& c) { return c.owner_text; }
  std::string reason(const redlock_claim&, errc why) const;

  // For its nodes, rounds and claims; with the reactor's mutex held.
  const redlock::codec& codec() const noexcept { return codec_; }
  std::size_t majority() const noexcept { return majority_of(servers_.size()); }
  void on_vote(redlock_round::request&, const value&, const reply_context&);
  void on_no_vote(redlock_round::request&, const reply_context&);
  void send_again(redlock_round::request&, const reply_context&);
  void on_looked(time_point now);
  void on_messages(redlock_claim&, time_point now, base::event_queue&);
  void on_messages_lost(time_point now, base::event_queue&);
  void on_release_heard(redlock_claim&, std::string_view payload, time_point now,
                        base::event_queue&);
  void on_tick(time_point now, base::event_queue&);
  // Another server of the list that is the same process; null: none.
  const redlock_node* twin_of(const redlock_node&) const noexcept;
  // Another server whose record this one has; null: none.
  const redlock_node* node_with_record_of(const redlock_node&) const noexcept;

 private:
  std::unique_ptr<layout_node> make_node(transport&) override;
  std::string key_of(std::string_view name) const { return settings_.prefix + std::string(name); }
  void drop_owner(redlock_claim&) noexcept;

  redlock_round& take_round(const redlock_claim&, retrying_operation, time_point now);
  void give_back_if_over(redlock_round&) noexcept;
  std::optional<retrying_reply> attempt(redlock_claim&, time_point now);
  bool ask_first(redlock_round&, time_point now);
  void ask_all(redlock_round&, time_point now);
  void note_asked(const redlock_round&, std::size_t server) noexcept;
  std::optional<retrying_reply> leave(redlock_claim&, retrying_operation, time_point now);
  void renew(redlock_claim&, time_point now);
  std::optional<retrying_reply> subscribe(redlock_claim&, time_point now);

  void conclude(redlock_round&, time_point now, base::event_queue&);
  std::optional<retrying_reply> decide(redlock_round&, time_point now);
  std::optional<retrying_reply> decide_or_wait(redlock_round&, duration limit, time_point now);
  bool is_awaited(const redlock_round&);
  std::optional<retrying_reply> decide_leading(redlock_round&, time_point now);
  std::optional<retrying_reply> decide_attempt(redlock_round&, time_point now);
  std::optional<retrying_reply> decide_raising(redlock_round&, time_point now);
  retrying_reply fail(redlock_round&, time_point now);
  void raise(redlock_round&, time_point now);
  retrying_reply reply_to(const redlock_round&, retrying_reply::verdict) const noexcept;
  void withdraw_attempt(const redlock_round&, time_point now);
  void withdraw_at(std::size_t server, const redlock_round&, time_point now);
  void restore(redlock_round&, time_point now);
  void on_overdue(redlock_round&, time_point now, base::event_queue&);
  void wait_until(redlock_round&, time_point);
  duration random_pause(const redlock_claim&);
  void try_after_withdrawal(redlock_claim&, time_point now);
  void try_by(redlock_claim&, time_point);
  static void note_attempt(redlock_claim&, bool is_granted) noexcept;
  std::size_t count_messages(const redlock_claim&) const noexcept;
  void end_waits(time_point now, base::event_queue&);
  time_point out_since() const;
  std::string text_of_servers() const;
  void begin_records(time_point now);
  bool look_again_at_empty(time_point now);

  const redlock::codec codec_;
  const seam::capabilities can_;
  std::vector<redlock_node*> servers_;
  std::vector<std::unique_ptr<redlock_round>> rounds_;
  std::vector<redlock_round*> idle_rounds_;
  base::timer_heap overdue_;
};

}  // namespace holdfast::redis
