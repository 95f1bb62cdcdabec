// What layout `string` collects for one server between two writes, and what it makes of the
// replies: what goes out together costs the server far less.
#pragma once
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "backend/redis/layouts/batch.hpp"
#include "backend/redis/layouts/string/codec.hpp"
#include "backend/redis/layouts/string/string_claim.hpp"
#include "backend/redis/transport/request_source.hpp"

namespace holdfast::redis {

class string_node;

// With the reactor's mutex held.
class string_batches {
 public:
  using request = batch<string_batches>;

  explicit string_batches(string_node& n) noexcept : node_(n) {}

  // Into a batch that is open until write() encodes it, just before the connection writes.
  void add(claim&, operation, time_point now);
  // A release that enqueues the next claim in the same step.
  void add_release(claim&, claim& next, time_point now);
  // Claims that are granted the lock all or none.
  void add_group(std::span<claim* const>, time_point now);
  bool has_unsent() const noexcept {
    return !try_locks_.empty() || !releases_.empty() || !groups_.empty() || !others_.empty();
  }
  // In this order: release_uncontended, try_lock, lock_all, all others. A lock that is released can
  // be acquired in the same write, and what a claim sends after its try_lock follows that. Drops
  // what its claim has given up.
  void write(request_writer&);
  void defer_unsent();  // the connection is lost: what was not written waits for the next one

  void on_reply(request&, const value&, const reply_context&);
  void on_script_missing(request&, const reply_context&);
  void on_cut(request&, const reply_context&);
  bool keys_move() const noexcept;
  void on_redirected(request&, const redirection&, const reply_context&);

 private:
  static batch_member member_of(const claim&, time_point now) noexcept;
  claim* current(const batch_member&) const noexcept;  // null: its claim has given it up
  bool collect_arguments(request&);
  void write_try_locks(request_writer&, request&);
  void write_releases(request_writer&, request&);
  void write_group(request_writer&, request&);
  void write_one(request_writer&, request&);
  reply reply_to(operation, const batch_member&) const noexcept;
  void answer_try_locks(request&, const value&, const reply_context&);
  void answer_releases(request&, const value&, const reply_context&);
  void answer_group(request&, const value&, const reply_context&);
  void answer_one(request&, const value&, const reply_context&);
  void answer_next(const batch_member&, const value&, const reply_context&);

  string_node& node_;
  batch_pool<string_batches> pool_{*this};
  std::vector<request*> try_locks_, releases_;  // one for each slot of a cluster
  std::vector<request*> groups_, others_;
  std::vector<lock_arguments> arguments_;  // room of collect_arguments()
  std::vector<owner_text> owners_;
};

}  // namespace holdfast::redis
