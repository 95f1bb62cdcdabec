// The layout of Curator's semaphore: what its claims send, which of them a watch concerns, and what
// becomes of their nodes. What stands in the tree: codec.hpp.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backend/zookeeper/held_nodes.hpp"
#include "backend/zookeeper/layouts/claims_layout.hpp"
#include "backend/zookeeper/layouts/curator_semaphore/codec.hpp"
#include "backend/zookeeper/recipes/permits.hpp"

namespace holdfast::zookeeper::curator_semaphore {

class layout;

inline constexpr seam::capabilities abilities{
    .life = seam::lifetime::session,
    .queue = seam::order::fifo,
    .contention = seam::contention_signal::push,
    .modes = seam::bit_of(lock_mode::permit),
    .tokens = true,
    .durable = true,
    .processes = true,
    .breakable = true,
    .revocation = true,
};

struct record : claim_record {
  std::vector<std::string> leases;  // the names of the own ones; empty: not known
  std::string queue_node;           // the name of the own node in the queue; empty: not known
  std::string blocker;              // in the queue
  std::uint32_t other_total = 0;    // of a mismatch
  bool is_unanswered = false;       // a create: there may be nodes whose names are not known
  bool makes_parents = false;       // with the next create
  bool others_behind = false;       // in the queue, when it was last listed

 protected:
  ~record() = default;
};

struct protocol {
  using recipe = permit_recipe;
  using store = layout;
  struct request_details {
    void keep(const seam::acquire_request& r) noexcept {
      permits = r.permits;
      total = r.total_permits;
    }
    std::uint32_t permits = 1, total = 1;
  };
  using record = curator_semaphore::record;
  static constexpr bool extends_unasked = true;
};
using claim = claims::store_claim<protocol>;

enum class part : unsigned char {  // of a batch: what a request asks
  parent,
  sync,
  make_leases,
  list_leases,
  own_lease,  // of a make_leases that was never answered: its number
  look_at_queue,
  enter_queue,
  list_queue,
  watch_blocker,
  watch_lease,
  check_waiters,
  await_queue,
  find_leases,  // to remove them
  find_queue,   // the same
  remove,
};

class batch final : public claim_batch<protocol> {
 public:
  using claim_batch::claim_batch;
  void add(part p) { parts_.push_back(p); }

 private:
  void on_begin(const claim&) override;
  void read(unsigned at, const reply&, const reply_context&) override;
  void read_parent(unsigned at, const reply&);
  void read_made(const reply&);
  void read_leases(const reply&, const reply_context&);
  void read_own_lease(const reply&);
  void read_look(const reply&);
  void read_queue(const reply&, const reply_context&);
  void read_blocker(const reply&, const reply_context&);
  void read_watched(const reply&);
  void read_peek(const reply&, const reply_context&);
  void read_found(const reply&, std::string_view folder, const std::string& begin,
                  const reply_context&);
  void read_removed(const reply&);
  bool are_in_order(const std::vector<std::string>& leases) const;

  std::vector<part> parts_;  // in the order of sending
  bool was_there_ = false;   // something that it removes
};

class layout final : public claims_layout<protocol, batch>, private held_nodes {
 public:
  using claims_layout::claims_layout;

  // layout
  const seam::capabilities& can() const noexcept override { return abilities; }
  void break_lock(std::string_view name, std::string_view seen, seam::decision_handler&) override;

  // The contract of claims::store_of.
  errc refuses(const claim&, claims::verb) const;
  std::optional<permit_recipe::reply> submit(claim&, permit_operation, time_point now,
                                             base::event_queue&);
  void renew_owner(claim&);
  void withdraw_orphan(claim&, time_point now, base::event_queue&);
  static std::string text_of_owner(const claim& c) { return owner_text(c.attempt); }
  std::string reason(const claim&, errc why) const;

  // For its batches.
  void ask(batch&, part, opcode, std::string body, time_point now, std::string watched = {});
  void list_queue(batch&, const claim&, time_point now);
  void check_waiters(batch&, const claim&, time_point now);
  void await_queue(batch&, const claim&, time_point now);
  void watch(batch&, part, const std::string& path, time_point now);
  void remove_node(batch&, const std::string& path, time_point now);

 private:
  void* find_extension(const std::type_info& wanted) noexcept override {
    return offer<held_nodes>(*this, wanted);
  }
  void write(const held_write&, version_handler&) override;
  void start_holders_query(std::string_view name, query_scope, seam::holders_handler&) override;
  void on_claims_watch(const watch_event&, time_point now, base::event_queue&) override;
  void make_parents(batch&, const claim&, const std::string& folder, time_point now);
  void make_leases(batch&, claim&, time_point now);
  void list_leases(batch&, const claim&, time_point now, bool is_synced, bool watches);
  void enter_queue(batch&, claim&, time_point now);
  bool remove_all(batch&, const claim&, time_point now);
  void leave_queue(claim&, time_point now);
  void on_node_watch(std::string_view path, bool has_ended, time_point now, base::event_queue&);
};

inline std::string folder_of(const claim& c, std::string_view folder) {
  return c.path + '/' + std::string(folder);
}

}  // namespace holdfast::zookeeper::curator_semaphore
