// Layout `string` at one server: what may be sent there now, what is deferred, and what is sent on
// behalf of all claims. What may be believed is in grant_rules.hpp.
//
// When the connection for commands is ready, in this order: the floor is void, the connection for
// messages is opened, scripts are loaded, orphans are withdrawn, the counter is raised, and what is
// deferred is sent.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backend/redis/layouts/layout_node.hpp"
#include "backend/redis/layouts/server_orphan.hpp"
#include "backend/redis/layouts/string/grant_rules.hpp"
#include "backend/redis/layouts/string/renewals.hpp"
#include "backend/redis/layouts/string/string_batches.hpp"
#include "backend/redis/layouts/string/string_claim.hpp"
#include "backend/redis/settings.hpp"

namespace holdfast::redis {

// An owner id that may be left at the server.
struct orphan final : server_orphan<orphan, string_node> {
  orphan(string_node&, std::string_view name, const owner_text&, time_point end);
  withdrawal withdraw(time_point now);
  static withdrawal take(const value&, time_point) noexcept;

  const std::string lock;
  const owner_text owner;
};

class string_node final : public claims_node<claim, orphan>, private message_handler {
 public:
  string_node(string_layout&, const settings&, transport&);

  // For the layout.
  void send(claim&, operation, time_point now);  // as soon as it may be (grant_rules::may_send)
  // A release that enqueues the next claim in the same step; may_queue() says whether it can.
  void send_release(claim&, claim& next, time_point now);
  bool may_queue() const noexcept {
    return over_.is_ready(lane::messages) && over_.is_ready(lane::commands);
  }
  void leave_group(claim& c) noexcept { groups_.leave(c.details.group, c); }
  void count_pushable(int change, time_point now);  // claims that may be sent a push

  // For its batches and renewals.
  string_layout& home() noexcept { return home_; }
  lock_arguments arguments_of(const claim&, owner_text& room) const;
  duration window(duration ttl) const noexcept {
    return grant_rules::window(ttl, over_.clock().round_trip());
  }
  void defer(claim&, operation);
  void wait_for_group(claim&);  // others of its group have left
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
  void on_data_in_doubt() override { floor_.forget(); }
  void on_tick(time_point now, base::event_queue&) override;
  bool is_open() const noexcept override { return !is_raising_; }

 private:
  class raise_reply final : public reply_handler {
   public:
    explicit raise_reply(string_node& n) noexcept : node_(n) {}

   private:
    void on_reply(const value& v, const reply_context& c) override { node_.on_raised(v, c); }
    void on_cut(const reply_context&) override { node_.is_raising_ = false; }
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
  void fail_needing_floor(const base::failure&, time_point now, base::event_queue&);
  void end_overdue(time_point now, base::event_queue&);

  // The counter is raised to the server's clock: without that no number proves anything.
  void raise(time_point now);
  void raise_later(time_point now);  // the server put it off
  void raise_if_due(time_point now);
  void on_raised(const value&, const reply_context&);

  void keep_sample(time_point now);
  duration sample_age_max() const noexcept { return window(duration::max()) / 2; }

  string_layout& home_;
  const settings& settings_;
  std::unique_ptr<subscription> pushes_;
  number_floor floor_;
  claims::group_barrier<claims::claim_group<claim>> groups_;
  std::vector<claims::claim_handle> deferred_;  // claims whose request may not be sent yet
  string_batches collected_{*this};
  renewals sent_renewals_{*this};
  raise_reply raise_reply_{*this};
  int pushable_ = 0;
  bool is_raising_ = false;
  time_point raise_at_ = base::never;  // again, since the server put it off
  unsigned raises_ = 0;                // that were put off in a row
};

}  // namespace holdfast::redis
