// The capabilities of an opened backend.
#pragma once
#include <holdfast/options.hpp>

#include <cstdint>

#include "base/environment.hpp"

namespace holdfast::seam {

// The lifetime of a grant.
//
//   lifetime   | deadline of a grant            | renewed by           | extend()      | lost
//   -----------+--------------------------------+----------------------+---------------+-----------
//   ttl        | its own: acquire or renewal    | the core, by ticket  | works         | deadline,
//              |                                |                      |               | another
//              |                                |                      |               | owner
//   session    | the session's                  | the backend: unasked | unsupported   | end of the
//              |                                | on_extended          |               | session,
//              |                                |                      |               | deadline
//   connection | send time of the last          | the backend's        | unsupported   | the cut,
//              | statement acknowledged, plus   | heartbeat, the same  |               | deadline
//              | the server's idle timeout     |                      |               |
//   process    | never                          | nobody               | accepted,     | never
//              |                                |                      | no effect     |
//
// The ttl of a request has an effect under the first one only.
enum class lifetime : unsigned char { ttl, session, connection, process };
enum class order : unsigned char { fifo, none };
enum class contention_signal : unsigned char {
  push,    // claim_sink::on_contended() reports that another client waits at the store
  poll,    // claim::others_wait() is queried
  silent,  // unknown; the cohort assumes that another client waits
};

constexpr unsigned bit_of(lock_mode m) noexcept { return 1u << static_cast<unsigned>(m); }

constexpr const char* plural_of(lock_kind k) noexcept {
  switch (k) {
    case lock_kind::mutex: return "mutexes";
    case lock_kind::shared_mutex: return "shared mutexes";
    case lock_kind::semaphore: break;
  }
  return "semaphores";
}

struct capabilities {
  lifetime life = lifetime::ttl;
  order queue = order::none;
  contention_signal contention = contention_signal::silent;
  unsigned modes = bit_of(lock_mode::exclusive);
  bool tokens = true;      // every grant has a number
  bool durable = false;    // grants and numbers outlive the process
  bool processes = false;  // excludes other processes
  bool breakable = false;
  // inspect() finds a holder only after its first renewal, which comes soon.
  bool shown_by_renewal = false;
  bool revocation = false;         // break_lock() asks the holder to release first
  bool own_reader_tokens = false;  // each grant to a reader has a number; else readers share one
  bool writer_preference = false;  // a writer that waits keeps later readers out
  bool downgrade = false;
  // No lease may last longer without a renewal; max(): there is no limit but that for all backends.
  base::duration ttl_max = base::duration::max();
  // The default of how many holders of one client may have a lock in a row while another waits.
  std::uint32_t turns = 128;
  bool unsafe = false;  // a demonstration: two may hold it without a fault of either

  // The core calls claim::renew(). Otherwise the deadlines, if any, move by unasked on_extended().
  constexpr bool core_renews() const noexcept { return life == lifetime::ttl; }
  constexpr bool has_deadlines() const noexcept { return life != lifetime::process; }
};

constexpr unsigned modes_of(lock_kind k) noexcept {
  switch (k) {
    case lock_kind::mutex: return bit_of(lock_mode::exclusive);
    case lock_kind::shared_mutex: return bit_of(lock_mode::exclusive) | bit_of(lock_mode::shared);
    case lock_kind::semaphore: break;
  }
  return bit_of(lock_mode::permit);
}
constexpr bool has_modes_of(lock_kind k, const capabilities& can) noexcept {
  return (can.modes & modes_of(k)) == modes_of(k);
}

}  // namespace holdfast::seam
