// What layout `string` may believe: every decision that its safety depends on and that is not a
// state of the recipe. Pure: no connection, no claim, no clock of its own.
//
//   question                           | answer
//   -----------------------------------+--------------------------------------------------------
//   may this request be sent now?      | the commands' connection is ready; where the answer may be
//                                      | a grant, all connections are to the server that was
//                                      | reached last; where it is a number, the floor is known and
//                                      | no raise is under way; where the claim queues, its
//                                      | messages can arrive
//   may the counter's floor be relied  | it is at most a second ahead of the server's clock: else
//   on?                                | numbers would repeat once the counter is lost
//   is this number a grant?            | it is above the floor and above every number seen on this
//                                      | connection, and no further ahead of the server's clock;
//                                      | or it is that of a group that stood before
//   from when does a pushed grant      | from its time at the server, placed on our clock by a
//   count?                             | sample younger than the window, if that is not later than
//                                      | now and its number is above the floor; else the claim asks
//   does a pushed grant count at all?  | it names the server that the commands go to: a replica
//                                      | delivers what its master published, also a grant that the
//                                      | master took back when nobody heard it there; else the
//                                      | claim asks
//   is a confirmed renewal believed?   | the server's clock advanced at most a tenth of the ttl
//                                      | more than ours since the renewal before
//   is `busy` the end of an acquire    | no older connection can still carry the acquire to the
//   whose reply was lost?              | server
//   who receives a pushed grant?       | the claim with this id on this lock; where there is none,
//                                      | the next waiter: it is declined
//   may the next claim be enqueued by  | both claims are exclusive, the next one waits, the release
//   a release?                         | is a full one and both connections are ready
//
// docs/safety.md has the reasons (rules 2, 3 and 4).
#pragma once
#include <holdfast/options.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

#include "backend/redis/recipes/protocol.hpp"
#include "backend/redis/transport/server_clock.hpp"

namespace holdfast::redis {

// The number of a grant proves its place only above the floor that this connection has seen the
// counter raised to, and above every number it has seen since.
class number_floor {
 public:
  bool is_known() const noexcept { return floor_.has_value(); }
  void raise(std::int64_t floor) noexcept;
  void forget() noexcept;
  void note(std::int64_t seen) noexcept { last_ = std::max(last_, seen); }  // elsewhere
  bool accept(std::int64_t number) noexcept;            // in the order of the replies
  std::int64_t last() const noexcept { return last_; }  // the highest that was accepted
  bool is_below(std::int64_t number) const noexcept;    // for a push, which is in no order

 private:
  std::optional<std::int64_t> floor_;
  std::int64_t last_ = 0;
};

namespace grant_rules {

struct readiness {  // of what a request depends on
  bool commands = false, messages = false;
  bool lanes_agree = false;  // all are to the server that was reached last
  bool floor = false;        // it is known
  bool raising = false;      // a raise of the counter is not answered yet
};

bool needs_floor(operation, lock_mode) noexcept;
bool may_send(operation, lock_mode, const readiness&) noexcept;

// How long a waiter has to accept a lock that was handed to it: at least 250 ms, and eight round
// trips.
duration window(duration ttl, duration round_trip) noexcept;

bool is_floor_believed(std::int64_t floor, const server_clock&) noexcept;

// A grant with a number that proves nothing becomes bad_number, and the floor is forgotten.
reply believe(reply, number_floor&, const server_clock&, time_point now) noexcept;

// Of the server that a push names, and of that which the commands go to. One that does not say who
// it is proves nothing.
bool is_of_server(std::string_view pushed, std::string_view commands) noexcept;

struct pushed_grant {
  std::int64_t number = 0;
  server_time at{};   // the hand-over, on the server's clock
  duration window{};  // what it is worth from then on
};
// `never`: the push proves nothing, the claim asks the server.
time_point deadline_of(const pushed_grant&, const number_floor&, const server_clock&,
                       duration clock_skew, time_point now) noexcept;
// When a waiter that was told to look at the lock does so.
time_point look_at(server_time at, const server_clock&, time_point now) noexcept;

// The process was stopped, or a clock was set: another client may have held the lock meanwhile.
bool is_clock_jump(duration jump, duration ttl) noexcept;

enum class recipient : unsigned char { claim, next_waiter, nobody };
// The receiver of a push, by whether its owner id is this client's and its claim exists.
recipient recipient_of(push::kind, bool is_own_id, bool has_claim) noexcept;

struct succession {
  operation release = operation::none;
  lock_mode holder = lock_mode::exclusive, next = lock_mode::exclusive;
  bool next_waits = false;
  bool is_ready = false;  // both connections
};
bool may_succeed(const succession&) noexcept;

}  // namespace grant_rules

}  // namespace holdfast::redis
