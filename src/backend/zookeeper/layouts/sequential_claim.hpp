// A claim of a layout whose locks are queues of sequential nodes, and what it has in flight.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "backend/zookeeper/layouts/claim_batch.hpp"
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

}  // namespace holdfast::zookeeper
