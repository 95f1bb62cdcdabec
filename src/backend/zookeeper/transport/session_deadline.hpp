// The time until which a session is guaranteed to exist, whatever fails at the servers.
//
// A touch is a request that the leader executed for this session: its timeout begins anew. It
// counts only once a later write over the same connection was acknowledged with success, and that
// was read before the deadline in force had passed. So the deadline moves along an unbroken chain
// of proofs, and deadline = send time of the last touch + T - T/100 - 2 ms.
//
//   rule           | touches
//   ---------------+----------------------------------------------------------------------------
//   on any server  | the ConnectRequest of this connection. A follower hands it to the leader and
//                  | answers the rest by itself: nothing else proves anything.
//   at the leader  | the acknowledged write as well. The server must have said that it is the
//                  | leader, or alone, after this connection was attached and before the write was
//                  | sent: it closes all connections when that changes.
//
// T is the smallest timeout ever negotiated for the session: followers and new leaders go back to
// the one of its creation. A session whose deadline has passed is never believed again.
#pragma once
#include <cstdint>

#include "base/environment.hpp"

namespace holdfast::zookeeper {

using base::duration;
using base::time_point;

class session_deadline {
 public:
  struct write_mark {  // of a write, taken when it is sent
    time_point sent{};
    std::uint32_t connection = 0;
    bool is_touch = false;
  };

  // A ConnectRequest sent at `sent` made a session. Its answer is the acknowledgement, for the
  // session is made by a write.
  void create(time_point sent, duration timeout) noexcept;
  // Another connection was attached by a ConnectRequest sent at `sent`. False: the server has
  // negotiated another timeout than at the creation, and the session must be replaced.
  bool attach(time_point sent, duration timeout) noexcept;
  void detach() noexcept;  // the connection is gone
  // The server said so; asked after the connection was attached.
  void note_leader() noexcept { is_at_leader_ = connected_; }

  write_mark mark(time_point now) const noexcept { return {now, connection_, is_at_leader_}; }
  // That write succeeded; its reply was read at `now`. True: the deadline moved.
  bool acknowledge(const write_mark&, time_point now) noexcept;

  time_point deadline() const noexcept { return deadline_; }
  time_point last_touch() const noexcept { return touch_; }  // the last one that counts
  duration timeout() const noexcept { return smallest_; }
  duration created_timeout() const noexcept { return created_; }  // asked for again, always
  bool is_attached() const noexcept { return connected_; }
  bool is_at_leader() const noexcept { return is_at_leader_; }
  bool has_lapsed(time_point now) noexcept;  // once true, always
  void forget() noexcept { *this = {}; }     // the session is over

 private:
  duration worth(duration timeout) const noexcept;

  duration created_{}, smallest_{};
  time_point attach_sent_{}, touch_{};
  time_point deadline_ = base::never;
  std::uint32_t connection_ = 0;
  bool connected_ = false;
  bool is_at_leader_ = false;
  bool must_be_replaced_ = false;
  bool has_lapsed_ = false;
};

}  // namespace holdfast::zookeeper
