// An owner id that may be left at a server, and what the reply to its withdrawal proves.
#pragma once
#include <list>

#include "backend/redis/transport/reply_handler.hpp"
#include "backend/redis/transport/resp.hpp"
#include "claim/orphan_withdrawals.hpp"

namespace holdfast::redis {

// Orphan derives from it and has withdraw(), which sends, and take(value, now), which reads a
// reply: `done`, `again`, or, where another command follows it, whether that was sent. Node is the
// layout's for that server.
template <class Orphan, class Node>
class server_orphan : public claims::orphan, public reply_handler {
 public:
  typename std::list<Orphan>::iterator place;

 protected:
  using withdrawal = claims::withdrawal;
  server_orphan(Node& n, base::time_point end,
                base::duration pause_max = base::duration::max()) noexcept
      : claims::orphan(end, pause_max), node(n) {}
  ~server_orphan() = default;
  // write(request_writer&) appends the request.
  template <class Write>
  withdrawal submit(base::time_point now, Write write) {
    const bool is_sent = node.over().submit(*this, now, write);
    return is_sent ? withdrawal::sent : withdrawal::unsent;
  }

  Node& node;

 private:
  void on_reply(const value& v, const reply_context& c) final {
    if (c.is_doubted) return on_cut(c);
    const withdrawal read = self().take(v, c.now);
    if (read == withdrawal::sent) return;
    const bool is_last = read == withdrawal::done;
    conclude(!is_last                                 ? read
             : v.is(value::kind::error)               ? withdrawal::refused
             : node.over().no_older_connection_runs() ? withdrawal::done
                                                      : withdrawal::unverified,
             c);
  }
  void on_not_executed(not_executed why, const value& v, const reply_context& c) final {
    if (why == not_executed::script_missing) return conclude(withdrawal::again, c);
    node.on_orphan_redirected(self(), {why, v.text()}, c.now);
    on_reply(v, c);
  }
  void on_cut(const reply_context&) final { node.orphans().on_cut(self()); }
  void conclude(withdrawal w, const reply_context& c) {
    Node& to = node;  // on_answer() may end this
    to.over().tick_by(to.orphans().on_answer(self(), w, c.now));
  }
  Orphan& self() noexcept { return static_cast<Orphan&>(*this); }
};

}  // namespace holdfast::redis
