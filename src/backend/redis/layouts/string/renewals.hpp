// The renewals of layout `string`: two scripts, for exclusive holders and for members.
#pragma once
#include <list>

#include "backend/redis/layouts/batch.hpp"
#include "backend/redis/layouts/string/codec.hpp"
#include "backend/redis/layouts/string/string_claim.hpp"

namespace holdfast::redis {

class string_node;

// Encodes those that are due at a node, and reads the replies. With the reactor's mutex held.
class renewals {
 public:
  using request = batch<renewals>;

  explicit renewals(string_node& n) noexcept : node_(n) {}
  // As many as the server may have before it; replies bring the next round.
  void write(request_writer&, time_point now);

  void on_reply(request&, const value&, const reply_context&);
  void on_script_missing(request&, const reply_context&);
  void on_cut(request& r, const reply_context&) noexcept { end(r); }
  bool keys_move() const noexcept;
  void on_redirected(request&, const redirection&, const reply_context&);

 private:
  struct round;
  void add_to(round&, claim&);
  round& round_for(std::list<round>&, const claim&, time_point now);
  void end(request&) noexcept;

  string_node& node_;
  batch_pool<renewals> pool_{*this};
};

}  // namespace holdfast::redis
