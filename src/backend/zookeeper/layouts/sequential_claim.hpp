// A claim of a layout whose locks are queues of sequential nodes, and what it has in flight.
#pragma once
#include <cstdint>
#include <list>
#include <string>

#include "backend/zookeeper/layouts/sequential_codec.hpp"
#include "backend/zookeeper/recipes/sequential.hpp"
#include "backend/zookeeper/transport/reply_handler.hpp"
#include "base/timer_heap.hpp"
#include "claim/claim_table.hpp"
#include "claim/store_claim.hpp"

namespace holdfast::zookeeper {

class sequential_layout;

struct sequential_record : core::heap_timer {  // what the layout keeps of a claim
  std::string path;                            // of the lock, complete
  std::string node;                            // the name of the own node; empty: not known
  std::string next_node;  // that takes the place of `node` in a downgrade; empty: none does
  std::string blocker;
  guid attempt;  // none: the claim is idle
  std::int64_t czxid = 0;
  std::int64_t blocker_czxid = 0;  // as it was when the watch on it was armed
  std::int64_t last_czxid = 0;     // of this claim's earlier nodes
  claims::claim_place place;
  bool makes_parent = false;  // with the next create

 protected:
  ~sequential_record() = default;
};

struct sequential_protocol {
  using recipe = sequential_recipe;
  using store = sequential_layout;
  struct request_details {
    void keep(const core::acquire_request& r) noexcept {
      mode = r.mode;
      permits = r.permits;
      total_permits = r.total_permits;
    }
    lock_mode mode = lock_mode::exclusive;
    std::uint32_t permits = 1, total_permits = 0;
  };
  using record = sequential_record;
  static constexpr bool extends_unasked = true;
};
using sequential_claim = claims::store_claim<sequential_protocol>;

// The requests of one operation of a claim, sent in one write and answered in order.
class flight final : public reply_handler {
 public:
  explicit flight(sequential_layout& l) noexcept : home_(l) {}
  void begin(const sequential_claim&, sequential_operation);
  void expect() noexcept { ++awaited_; }

  void on_reply(const reply&, const reply_context&) override;
  void on_cut(bool was_sent, const reply_context&) override;

 private:
  friend class sequential_layout;
  // Each reads one reply into `result_`; `at`: its place among the flight's.
  void read_create(unsigned at, const reply&);
  void read_list(const reply&, const reply_context&);
  void read_watch(unsigned at, const reply&);
  void read_peek(const reply&);
  void read_remove(const reply&, const reply_context&);
  void read_downgrade(const reply&);
  void read_own(const reply&);
  void fail(const reply&);
  void fail(errc, std::string text);
  void finish(const reply_context&);

  sequential_layout& home_;
  claims::claim_place whose_;
  sequential_operation what_{};
  guid attempt_;
  std::string node_;  // removed by it
  sequential_reply result_;
  std::string text_;  // of a failure
  unsigned awaited_ = 0, answered_ = 0;
  std::int64_t czxid_ = 0;
  bool is_certain_ = false;  // the verdict stands: what follows does not change it
  bool asks_own_ = false;    // about the own node, after the list
  bool was_there_ = false;   // what was removed
};

// A node that may be left: under its GUID, or its name. It is removed as long as the session lives.
class removal final : public reply_handler {
 public:
  removal(sequential_layout& l, std::string path, std::string name, bool is_known)
      : home_(l), path_(std::move(path)), name_(std::move(name)), is_known_(is_known) {}
  void start(time_point now);
  void on_reply(const reply&, const reply_context&) override;
  void on_cut(bool was_sent, const reply_context&) override;

  std::list<removal>::iterator place;
  bool is_cut = false;
  time_point retry_at = core::never;

 private:
  sequential_layout& home_;
  const std::string path_;  // of the lock
  std::string name_;        // its beginning, until it is known
  bool is_known_;
  bool deletes_ = false;  // in flight; else a list
  unsigned awaited_ = 0;
};

}  // namespace holdfast::zookeeper
