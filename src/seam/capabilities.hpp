// What an opened backend can do.
#pragma once
#include <holdfast/options.hpp>

namespace holdfast::core {

// What a grant ends with.
enum class bound_to : unsigned char { ttl, session, connection, process };
enum class order : unsigned char { fifo, none };
enum class wanted_by : unsigned char {
  push,    // claim_sink::on_wanted() reports that somebody waits at the store
  poll,    // claim::others_wait() is queried
  silent,  // unknown; the cohort assumes that somebody waits
};

constexpr unsigned bit_of(lock_mode m) noexcept { return 1u << static_cast<unsigned>(m); }

struct capabilities {
  bound_to life = bound_to::ttl;
  order queue = order::none;
  wanted_by wanted = wanted_by::silent;
  unsigned modes = bit_of(lock_mode::exclusive);
  bool tokens = true;      // every grant has a number
  bool durable = false;    // grants and numbers outlive the process
  bool processes = false;  // excludes other processes
  bool breakable = false;
  // inspect() finds a holder only after its first renewal, which comes soon.
  bool shown_by_renewal = false;
  bool downgrade = false;
};

}  // namespace holdfast::core
