// Layout `node`: the lock is one node that everybody watches. For study.
//
//   path | content
//   -----+-------------------------------------------------------------------------
//   LOCK | ephemeral; data: a GUID, and who holds the lock, for people
//
// The creator of the node holds the lock. When the node ends, all waiters try to create it: with N
// waiters each release costs N events, N creates, of which one succeeds, and N reads.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "backend/zookeeper/layouts/claims_layout.hpp"
#include "backend/zookeeper/recipes/single_node.hpp"

namespace holdfast::zookeeper::single_node {

class layout;

// Not breakable: a delete names a path and no node, so it could end the next holder's.
inline constexpr seam::capabilities abilities{
    .life = seam::lifetime::session,
    .queue = seam::order::none,
    .contention = seam::contention_signal::silent,
    .modes = seam::bit_of(lock_mode::exclusive),
    .tokens = true,
    .durable = true,
    .processes = true,
    .unsafe = true,
};

struct protocol {
  using recipe = single_node_recipe;
  using store = layout;
  struct request_details {
    void keep(const seam::acquire_request&) noexcept {}
  };
  using record = claim_record;
  static constexpr bool extends_unasked = true;
};
using claim = claims::store_claim<protocol>;

class batch final : public claim_batch<protocol> {
 public:
  using claim_batch::claim_batch;
  bool deletes() const noexcept { return deletes_; }

 private:
  void read(unsigned at, const reply&, const reply_context&) override;
  void read_create(const reply&);
  void read_look(const reply&);
  void read_remove(const reply&, const reply_context&);
  void on_begin(const claim&) override;

  bool deletes_ = false;  // the answer that comes is that of the deletion
};

class layout final : public claims_layout<protocol, batch> {
 public:
  using claims_layout::claims_layout;

  // layout
  const seam::capabilities& can() const noexcept override { return abilities; }
  void break_lock(std::string_view name, std::string_view seen, seam::decision_handler&) override;

  // The contract of claims::store_of.
  std::optional<single_node_recipe::reply> submit(claim&, single_node_operation, time_point now,
                                                  base::event_queue&);
  void renew_owner(claim&);
  void withdraw_orphan(claim&, time_point now, base::event_queue&);
  static std::string text_of_owner(const claim& c) { return base::text_of(c.attempt); }

 private:
  void start_holders_query(std::string_view name, query_scope, seam::holders_handler&) override;
  void on_claims_watch(const watch_event&, time_point now, base::event_queue&) override;
};

static_assert(claims::store_of<layout, claim>);

}  // namespace holdfast::zookeeper::single_node
