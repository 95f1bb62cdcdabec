// The layout of every codec of the sequential recipe: what its claims send, which of them a watch
// concerns, and what becomes of their nodes.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "backend/zookeeper/held_nodes.hpp"
#include "backend/zookeeper/layouts/claim_batch.hpp"
#include "backend/zookeeper/layouts/claims_layout.hpp"
#include "backend/zookeeper/layouts/nodes_ahead.hpp"
#include "backend/zookeeper/layouts/sequential_codec.hpp"
#include "backend/zookeeper/recipes/sequential.hpp"

namespace holdfast::zookeeper {

class sequential_layout;

// The state that the layout keeps of a claim. A program may hold many locks, so the part that only
// waiters need is allocated separately.
struct sequential_record : claim_record {
  std::unique_ptr<nodes_ahead> ahead;     // null: it does not wait for any
  std::optional<std::int32_t> sequence;   // of the own node; none: not known
  lock_mode mode = lock_mode::exclusive;  // of the own node
  bool is_downgrading = false;            // a reader's node may stand in the place of the own one
  bool makes_parent = false;              // with the next create

 protected:
  ~sequential_record() = default;
};

struct sequential_protocol {
  using recipe = sequential_recipe;
  using store = sequential_layout;
  struct request_details {
    void keep(const seam::acquire_request& r) noexcept { mode = r.mode; }
    lock_mode mode = lock_mode::exclusive;
  };
  using record = sequential_record;
  static constexpr bool extends_unasked = true;
};
using sequential_claim = claims::store_claim<sequential_protocol>;

class sequential_batch final : public claim_batch<sequential_protocol> {
 public:
  using claim_batch::claim_batch;
  const std::string& removed_node() const noexcept { return node_; }

 private:
  void on_begin(const sequential_claim&) override;
  void read(unsigned at, const reply&, const reply_context&) override;
  void read_create(const reply&);
  void read_list(const reply&, const reply_context&);
  void read_own(const reply&);
  void read_watch_ahead(unsigned at, const reply&);
  void read_watch_own(const reply&);
  void read_peek(const reply&);
  void read_remove(const reply&, const reply_context&);
  void read_downgrade(const reply&);

  std::string node_;        // removed by it; empty: its name is not known
  bool asks_own_ = false;   // about the own node, after the list
  bool was_there_ = false;  // one of those that it removes
};

class sequential_layout final : public claims_layout<sequential_protocol, sequential_batch>,
                                private held_nodes {
 public:
  // The settings outlive it.
  sequential_layout(base::environment&, const settings&, std::unique_ptr<const sequential_codec>);

  // layout
  const seam::capabilities& can() const noexcept override { return codec_->can(); }
  void break_lock(std::string_view name, std::string_view seen, seam::decision_handler&) override;

  // The contract of claims::store_of.
  std::optional<sequential_reply> submit(sequential_claim&, sequential_operation, time_point now,
                                         base::event_queue&);
  void renew_owner(sequential_claim&);
  void withdraw_orphan(sequential_claim&, time_point now, base::event_queue&);
  std::string text_of_owner(const sequential_claim& c) const { return node_name(c); }
  void after_step(sequential_claim&, time_point) noexcept;

  // The name of the own node; empty: unknown.
  std::string node_name(const sequential_claim& c) const { return node_name(c, c.mode); }

  // For its batches.
  const sequential_codec& codec() const noexcept { return *codec_; }

 private:
  void* find_extension(const std::type_info& wanted) noexcept override {
    return offer<held_nodes>(*this, wanted);
  }
  void write(const held_write&, version_handler&) override;
  void start_holders_query(std::string_view name, query_scope, seam::holders_handler&) override;
  void on_claims_watch(const watch_event&, time_point now, base::event_queue&) override;
  std::string node_name(const sequential_claim&, lock_mode) const;
  std::string node_path(const sequential_claim& c) const { return c.path + '/' + node_name(c); }
  void send_create(const sequential_claim&, sequential_batch&, time_point now);
  void send_list(const sequential_claim&, sequential_batch&, time_point now, bool is_synced);
  void send_downgrade(sequential_claim&, sequential_batch&, time_point now);

  const std::unique_ptr<const sequential_codec> codec_;
};

static_assert(claims::store_of<sequential_layout, sequential_claim>);

}  // namespace holdfast::zookeeper
