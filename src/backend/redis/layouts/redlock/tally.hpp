// What the answers of all servers to one request amount to: the arithmetic of Redlock. Pure.
//
// Source: the Redlock algorithm of the Redis documentation (S. Sanfilippo, "Distributed locks with
// Redis"): a lock is held where a majority of independent masters has set it. The fencing token is
// a register in two phases (docs/safety.md; tests/model/redlock_tokens.pml). Each server that sets
// the lock raises its own number. A grant counts at exactly a majority of the servers, its quorum,
// and has the largest of their numbers; those below it are raised in a second phase. Every later
// grant has one of these servers in its quorum, where its number is larger.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "backend/redis/topologies/several_servers.hpp"
#include "base/environment.hpp"

namespace holdfast::redis {

using base::duration;

enum class vote : unsigned char {
  awaited,
  yes,
  no,      // an attempt: another owner has the lock there; otherwise: this owner does not have it
  missing  // no connection, a refusal, silence: it is not known what the server did
};

struct ballot {
  vote what = vote::awaited;
  std::int64_t number = 0;  // yes to an attempt: the server's number
  // no: a hash of the owner that has the lock there; 0: nobody has it
  std::uint64_t holder = 0;
  bool is_in_quorum = false;        // raising: it counts
  duration rest = duration::max();  // no to an attempt: of that owner's lease
};

class tally {
 public:
  explicit tally(std::size_t servers = 0) noexcept : servers_(servers) {}

  std::size_t servers() const noexcept { return servers_; }
  ballot& operator[](std::size_t server) noexcept { return ballots_[server]; }
  const ballot& operator[](std::size_t server) const noexcept { return ballots_[server]; }

  std::size_t majority() const noexcept { return majority_of(servers_); }
  std::size_t count(vote) const noexcept;
  bool is_won() const noexcept { return count(vote::yes) >= majority(); }
  // A majority is out of reach, whatever the servers answer that are still awaited.
  bool is_lost() const noexcept { return count(vote::yes) + count(vote::awaited) < majority(); }
  // So many have refused that no majority can have this owner.
  bool is_denied() const noexcept { return count(vote::no) > servers_ - majority(); }
  // No server that has refused shows another owner.
  bool is_nobodys() const noexcept;
  // A majority has answered, one way or the other.
  bool has_quorum() const noexcept { return count(vote::yes) + count(vote::no) >= majority(); }

  // Of a won attempt: the number of the grant. A number that a majority has needs no second phase;
  // otherwise the quorum is the majority with the largest numbers.
  std::int64_t number() const noexcept;
  bool has_majority_at(std::int64_t number) const noexcept;
  // From here on only the quorum counts: servers outside it, and those that are late, are missing.
  void begin_raising(std::int64_t number) noexcept;
  // Servers of the quorum that have reached the number.
  std::size_t count_at(std::int64_t number) const noexcept;

  // Of a lost attempt. Whether one other owner may have the lock: otherwise several clients have
  // taken a part of the servers each, and nobody has it.
  bool may_be_held() const noexcept;
  // The time after which enough of the leases that stood in its way have ended; max(): not known.
  duration rest() const noexcept;

 private:
  std::span<const ballot> all() const noexcept { return std::span(ballots_).first(servers_); }

  std::array<ballot, independent_servers_max> ballots_{};
  std::size_t servers_;
};

}  // namespace holdfast::redis
