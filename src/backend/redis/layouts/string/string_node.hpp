// Layout `string` at one server: what may be sent there now, what is deferred, and what is sent on
// behalf of all claims. What may be believed is in grant_rules.hpp.
//
// When the connection for commands is ready, in this order: the floor is void, the connection for
// messages is opened, scripts are loaded, orphans are withdrawn, the counter is raised, and what is
// deferred is sent.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backend/redis/layouts/layout_node.hpp"
#include "backend/redis/layouts/string/grant_rules.hpp"
#include "backend/redis/layouts/string/orphan.hpp"
#include "backend/redis/layouts/string/renewals.hpp"
#include "backend/redis/layouts/string/string_batches.hpp"
#include "backend/redis/layouts/string/string_claim.hpp"
#include "backend/redis/settings.hpp"

namespace holdfast::redis {

class string_node final : public claims_node<string_layout, claim, orphan>,
                          private message_handler {
 public:
  string_node(string_layout&, const settings&, transport&);

  // For the layout.
  void send(claim&, operation, time_point now);  // as soon as it may be (grant_rules::may_send)
  // A release that enqueues the next claim in the same step; may_queue() says whether it can.
  void send_release(claim&, claim& next, time_point now);
  bool may_queue() const noexcept {
    return over_.is_ready(lane::messages) && over_.is_ready(lane::commands);
  }
  // A claim whose lock has come to this server; and one that has left it.
  void adopt(claim&, time_point now, base::event_queue&);
  void forget_deferred(const claim& c) noexcept;
  // The counter of a slot that leaves; it goes on above the numbers that were seen elsewhere.
  std::int64_t take_counter_of(const claim&) noexcept;
  void note_numbers_below(const claim&, std::int64_t);
  void leave_group(claim& c) noexcept { groups_.leave(c.details.group, c); }
  void count_pushable(int change, time_point now);  // claims that may be sent a push

  // For its batches and renewals.
  lock_arguments arguments_of(const claim&, owner_text& buffer) const;
  duration window(duration ttl) const noexcept {
    return grant_rules::window(ttl, over_.clock().round_trip());
  }
  void defer(claim&, operation);
  void wait_for_group(claim&);  // others of its group have left
  // The server has not executed it; another one may have the keys.
  void send_again(const claim&, operation, const redirection&, time_point now);
  time_point now() const noexcept { return env().now(); }
  // `error`: the text that the server gave with it.
  void answer(claims::claim_handle, reply, std::string_view error, const reply_context&);

  // layout_node
  void retry_now(time_point by) override;
  void detach() noexcept override;

  // request_source
  void write_requests(lane, request_writer&) override;
  void on_ready(lane, time_point now, base::event_queue&) override;
  void on_down(lane, const base::failure&, loss, time_point now, base::event_queue&) override;
  void on_agreed(time_point now) override { send_deferred(now); }
  void on_data_in_doubt() override {
    for (auto& [slot, n] : counters_) n.floor.forget();
  }
  void on_tick(time_point now, base::event_queue&) override;
  bool is_open() const noexcept override;

 private:
  // The counter of all locks, or in a cluster that of one slot.
  class counter final : private reply_handler {
   public:
    counter(string_node& n, std::string_view k) noexcept : key(k), node_(n) {}
    void raise(time_point now);
    void raise_later(time_point now);  // the server put it off
    void void_all() noexcept;          // another connection, which proves nothing yet

    const std::string_view key;
    number_floor floor;
    bool is_raising = false;
    time_point raise_at = base::never;  // again, since the server put it off
    unsigned raises = 0;                // that were put off in a row

   private:
    void on_reply(const value& v, const reply_context& c) override { node_.on_raised(*this, v, c); }
    void on_not_executed(not_executed, const value& v, const reply_context&) override;
    void on_cut(const reply_context&) override { is_raising = false; }
    string_node& node_;
  };

  void write_renewals(request_writer& to, time_point now) override {
    sent_renewals_.write(to, now);
  }
  void on_subscribed(time_point now, base::event_queue&) override;
  void on_message(std::string_view payload, time_point now, base::event_queue&) override;

  bool may_send(const claim&, operation) const noexcept;
  void load_scripts(time_point now);
  void decline(std::string_view owner, std::string_view lock, time_point now);

  // The deferred claims; those for which `stays` is true remain deferred.
  template <class Stays>
  void review_deferred(Stays stays);
  void send_deferred(time_point now);
  void send_group(claims::claim_group<claim>&, time_point now);
  template <class Which>
  void fail_deferred(Which, const base::failure&, time_point now, base::event_queue&);
  void fail_needing(const counter&, const base::failure&, time_point now, base::event_queue&);
  void end_overdue(time_point now, base::event_queue&);

  // A counter is raised to the server's clock: without that no number proves anything.
  counter& counter_of(const claim&);
  const counter* known_counter_of(const claim&) const noexcept;
  void raise_if_due(time_point now);
  void on_raised(counter&, const value&, const reply_context&);

  void expect_pushes(time_point now);
  duration sample_age_max(time_point now) const noexcept;
  void keep_sample(time_point now);

  const settings& settings_;
  std::unique_ptr<subscription> pushes_;
  std::map<slot_number, counter> counters_;  // outside of a cluster: one, of number 0
  claims::group_barrier<claims::claim_group<claim>> groups_;
  std::vector<claims::claim_handle> deferred_;  // claims whose request may not be sent yet
  string_batches collected_{*this};
  renewals sent_renewals_{*this};
  int pushable_ = 0;
  time_point pushes_expected_until_{};
};

}  // namespace holdfast::redis
