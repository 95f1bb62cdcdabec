// A claim's questions as commands, and the server's answers as replies.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "backend/redis/layouts/string/names.hpp"
#include "backend/redis/layouts/string/reply_errors.hpp"
#include "backend/redis/layouts/string/scripts.hpp"
#include "backend/redis/recipes/protocol.hpp"
#include "backend/redis/transport/request_writer.hpp"
#include "backend/redis/transport/resp.hpp"
#include "backend/redis/transport/server_info.hpp"
#include "seam/backend.hpp"

namespace holdfast::redis {

struct lock_arguments {   // what a question is about
  std::string_view lock;  // K
  std::string_view owner;
  duration ttl{};
  duration window{};
  std::int64_t arrival = 0;  // join: its place in line; 0: it has none
  bool looks = false;        // join: it was left to see to the lock
  lock_mode how = lock_mode::exclusive;
  bool waits = true;          // join: it gets in line
  std::uint32_t permits = 1;  // join
  std::uint32_t of = 0;
  std::string_view about;       // join, of a member: for M; empty: nothing yet
  std::string_view next_owner;  // release: who gets in line in the same step; empty: nobody
  duration next_window{};
  bool known = false;  // release with a next: the server has notes on the owner
};

// Several takes in one transaction, answered by two replies and two more for each.
void begin_takes(std::string& out);
void append_take(std::string& out, const lock_arguments&);
void end_takes(std::string& out);
void append_let_go(command_writer&, std::span<const lock_arguments>);
void append_gather(command_writer&, std::span<const lock_arguments>);
void append_request(command_writer&, operation, const lock_arguments&);
// These are rare, and go by their text.
void append_leave(std::string& out, std::string_view lock, std::string_view owner);
void append_take_away(std::string& out, std::string_view lock, std::string_view owner);
void append_raise(std::string& out, std::int64_t seen);
void append_guarded_write(std::string& out, const core::guarded_write&);

struct renewal {
  std::string_view lock;
  std::string_view owner;
  duration ttl{};
  std::string_view about;  // for M; empty: nothing new
};
// Of those who hold a lock alone, or of members.
void append_renewals(command_writer&, std::span<const renewal>, bool of_members);

// What the server's clock said in an answer; zero: nothing.
struct answer {
  reply to_claim;
  server_time at{};
};
// `r` carries what is known from the question.
reply read_take(const value& set, const value& number, reply r);
reply read_let_go(const value&, reply r);
reply read_gathered(const value& all, std::size_t which, std::size_t members, reply r);
reply read_glance(const value&, reply r);
reply read_line(const value&, reply r);  // of peek_line
answer read_join(const value&, reply r);
answer read_resolve(const value&, reply r);
answer read_released(const value&, reply r);  // of release, leave and downgrade
answer read_next(const value&, reply r);      // of who got in line with a release
std::string text_of_glance(const value&);     // as an error of the server, or empty

std::int64_t in_ms(duration) noexcept;  // rounded up

}  // namespace holdfast::redis
