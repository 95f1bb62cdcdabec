// A request in flight, for one claim or for many: a transaction of several takes, a script that
// releases many locks, a release with the next claim, renewals, or one command of one claim.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "backend/redis/recipes/protocol.hpp"
#include "backend/redis/slots.hpp"
#include "backend/redis/transport/reply_handler.hpp"
#include "backend/redis/transport/resp.hpp"
#include "base/mutant.hpp"
#include "claim/claim_table.hpp"

namespace holdfast::redis {

struct batch_member {
  claims::claim_handle whose;
  std::uint32_t epoch = 0;   // of the claim when it asked: a reply to an earlier one is discarded
  std::uint32_t ticket = 0;  // of a renewal
  duration ttl{};
  time_point sent{};  // when the claim asked: its lease counts from then
};
static_assert(sizeof(batch_member) == 32);

// `Home` handles what comes back. Where its keys_move(), another server may have to do it.
// `Operation`: of the layout's recipe.
template <class Home, class Operation = operation>
class batch final : public reply_handler {
 public:
  explicit batch(Home& home) noexcept : home_(home) {}
  void on_reply(const value& v, const reply_context& c) override {
    if (c.is_doubted || (to == Operation::renew && !c.lanes_agree)) return home_.on_cut(*this, c);
    home_.on_reply(*this, v, c);
  }
  void on_not_executed(not_executed why, const value& v, const reply_context& c) override {
    if (why == not_executed::script_missing) return home_.on_script_missing(*this, c);
    if (!home_.keys_move()) return on_reply(v, c);
    home_.on_redirected(*this, {why, v.is_error("EXECABORT") ? c.aborted : v.text()}, c);
  }
  void on_cut(const reply_context& c) override { home_.on_cut(*this, c); }
  bool counts_at_once() const noexcept override {
    if constexpr (requires { Operation::release_uncontended; })
      if (to == Operation::release_uncontended) return true;
    // A second member may be granted the lock by the same reply.
    return (to == Operation::release && members.size() == 1) ||
           base::planted(base::mutant::grant_before_replicas);
  }

  Operation to{};
  bool of_members = false;  // renewals: of readers and of holders of permits
  slot_number slot = 0;     // in a cluster: of all its keys
  time_point sent{};        // from here on silence counts
  std::vector<batch_member> members;

 private:
  Home& home_;
};

// Batches are used again with the room they have: in the steady state nothing is allocated.
template <class Home, class Operation = operation>
class batch_pool {
 public:
  using item = batch<Home, Operation>;

  explicit batch_pool(Home& home) noexcept : home_(home) {}
  item& take(Operation to, time_point sent) {
    if (idle_.empty()) {
      all_.push_back(std::make_unique<item>(home_));
      idle_.reserve(all_.size());
      idle_.push_back(all_.back().get());
    }
    item& b = *idle_.back();
    idle_.pop_back();
    b.to = to;
    b.sent = sent;
    b.of_members = false;
    b.slot = 0;
    return b;
  }
  void give_back(item& b) noexcept {
    b.members.clear();
    idle_.push_back(&b);
  }

 private:
  Home& home_;
  std::vector<std::unique_ptr<item>> all_;
  std::vector<item*> idle_;
};

}  // namespace holdfast::redis
