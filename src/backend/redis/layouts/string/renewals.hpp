// The renewals of layout `string`: many in one script. They go over a connection of their own.
// While that cannot be had, they go with the commands: a renewal that waits behind other requests
// is better than a lost lock.
#pragma once
#include <deque>
#include <string>
#include <vector>

#include "backend/redis/layouts/batch.hpp"
#include "backend/redis/layouts/string/codec.hpp"
#include "backend/redis/layouts/string/string_claim.hpp"

namespace holdfast::redis {

class string_layout;

// With the group's mutex held.
class renewals {
 public:
  using request = batch<string_layout>;

  explicit renewals(string_layout& home) noexcept : home_(home) {}
  void add(claim&);  // unless it is in the list
  // As many as the server may have before it; replies bring the next round.
  void write(request_writer&, time_point now);
  bool go_with_commands() const noexcept;  // there are some, and they do now

  void on_reply(request&, const value&, const reply_context&);
  void on_not_executed(request&);
  void on_cut(request& r) noexcept { end(r); }

 private:
  struct round;
  void add_to(round&, claim&);
  void send(round&, bool of_members, request_writer&, time_point now);
  void end(request&) noexcept;

  string_layout& home_;
  std::deque<claims::claim_place> waiting_;
  std::size_t in_flight_ = 0;  // batches
};

}  // namespace holdfast::redis
