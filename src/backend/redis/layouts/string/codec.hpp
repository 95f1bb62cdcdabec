// A claim's operations as commands, and the server's answers, errors and messages as replies.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "backend/redis/extensions.hpp"
#include "backend/redis/layouts/required_command.hpp"
#include "backend/redis/layouts/string/names.hpp"
#include "backend/redis/recipes/protocol.hpp"
#include "backend/redis/transport/error_text.hpp"
#include "backend/redis/transport/request_writer.hpp"
#include "backend/redis/transport/resp.hpp"
#include "backend/redis/transport/server_info.hpp"

namespace holdfast::redis {

struct lock_arguments {   // of a request for one lock
  std::string_view lock;  // K
  std::string_view owner;
  std::string_view counter = counter_key;  // N
  std::string_view stamp;  // of the server, for the grants that the request makes it send
  duration ttl{};
  duration window{};
  lock_mode mode = lock_mode::exclusive;
  // lock_or_queue:
  std::int64_t arrival = 0;  // its place in the queue; 0: it has none
  std::int64_t number = 0;   // of the grant that is downgraded
  bool looks = false;        // its timer on the lock has ended
  bool waits = true;         // it is queued when the lock is busy
  std::uint32_t total_permits = 0;
  std::string_view info;  // of a member, for M; empty: nothing yet
  // release with the next claim, which is enqueued in the same step; an empty owner: without.
  std::string_view next_owner;
  duration next_window{};
  bool info_may_be_stored = false;  // of the owner, in M
};

// All in one transaction, answered by two replies and two more for each.
void append_try_locks(std::string& out, std::span<const lock_arguments>);
void append_release_uncontended(command_writer&, std::span<const lock_arguments>);
void append_lock_all(command_writer&, std::span<const lock_arguments>);
void append_request(command_writer&, operation, const lock_arguments&);
// These are rare, and go by their text.
struct owned_lock {
  std::string_view lock, counter, owner, stamp;  // as of lock_arguments
};
void append_withdraw(std::string& out, const owned_lock&);
void append_break_lock(std::string& out, const owned_lock&);
void append_raise_counter(std::string& out, std::string_view counter, std::int64_t seen);
void append_guarded_write(std::string& out, const guarded_write&);

struct renewal_arguments {
  std::string_view lock;
  std::string_view owner;
  duration ttl{};
  std::string_view info;  // for M; empty: nothing new
};
// For exclusive holders, or for members.
void append_renewals(command_writer&, std::span<const renewal_arguments>, bool of_members);

inline constexpr std::string_view other_kind = "OTHERKIND";  // another kind of lock
inline constexpr std::string_view other_type = "BADTYPE";    // no lock at all
inline constexpr std::string_view counter_ahead = "AHEAD";   // of the server's clock

// The reply to a claim whose request the server answered with an error; `r` carries what is known
// from the request. not_now: the failure passes.
reply read_error(std::string_view, reply r);
std::span<const error_meaning> own_errors() noexcept;  // of its scripts
std::string explain_reply(std::string_view error);     // what it means and what to do

// The server's clock in a reply; zero: the reply has none.
struct answer {
  reply to_claim;
  server_time at{};
};
// `r` carries what is known from the request.
reply read_try_lock(const value& set, const value& number, reply r);
reply read_release_uncontended(const value&, reply r);
reply read_lock_all(const value& all, std::size_t which, std::size_t members, reply r);
reply read_kind(const value&, reply r);
reply read_waiters(const value&, reply r);  // of check_waiters
answer read_lock_or_queue(const value&, reply r);
answer read_resolve(const value&, reply r);
answer read_released(const value&, reply r);   // of release, withdraw and downgrade
answer read_successor(const value&, reply r);  // of the claim enqueued with a release
std::string text_of_kind(const value&);        // as an error of the server, or empty

// The messages that the scripts send to a client: what|text|...|owner|lock.
//
//   grant|<number>|<time>|<window>|<others>|<stamp>|<owner>|<lock>   it has been handed the lock
//   look|<time>|<owner>|<lock>                                       it is to look at the lock then
//   wanted|<ignored>|<owner>|<lock>                                  others wait for what it holds
struct pushed_message {
  push::kind what = push::kind::grant;
  bool others = false;      // grant: another client waits
  std::int64_t number = 0;  // grant
  server_time at{};         // grant, look
  duration window{};        // grant: what it is worth from then on
  std::string_view stamp;   // grant: of the server, by who made it send this; empty: not known
  std::string_view owner;
  std::string_view lock;  // any bytes
};

// Nothing when it is none of these.
std::optional<pushed_message> read_message(std::string_view payload) noexcept;

layout_needs needs_of_string() noexcept;  // the rights to all of these

}  // namespace holdfast::redis
