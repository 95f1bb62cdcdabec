// The renewals of layout `string`: two scripts, for exclusive holders and for members.
#pragma once
#include "backend/redis/layouts/batch.hpp"
#include "backend/redis/layouts/renewal_queue.hpp"
#include "backend/redis/layouts/string/codec.hpp"
#include "backend/redis/layouts/string/string_claim.hpp"

namespace holdfast::redis {

class string_layout;

// With the reactor's mutex held.
class renewals {
 public:
  using request = batch<string_layout>;

  explicit renewals(string_layout& home) noexcept : home_(home) {}
  void add(claim&);  // unless it is in the list
  void add_held();   // of all claims
  // As many as the server may have before it; replies bring the next round.
  void write(request_writer&, time_point now);
  bool go_with_commands() const noexcept;

  void on_reply(request&, const value&, const reply_context&);
  void on_not_executed(request&);
  void on_cut(request& r) noexcept { end(r); }

 private:
  struct round;
  void add_to(round&, claim&);
  void send(round&, bool of_members, request_writer&, time_point now);
  void end(request&) noexcept;

  string_layout& home_;
  renewal_queue queue_;
};

}  // namespace holdfast::redis
