// The connection of a client to its lock stores: the second of the two roles that each folder of
// src/backend implements. The other one is the lock store (seam/lock_store.hpp).
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "base/caller_driver.hpp"
#include "base/environment.hpp"
#include "base/failure.hpp"
#include "seam/result_handler.hpp"

namespace holdfast::seam {
using namespace base;

struct connection_status {   // as far as it is known
  failure trouble;           // why the store gives no answers now; code {}: none is known
  std::string last_failure;  // of a connection, and how long ago; empty: none
  bool connected = true;
  std::uint64_t reconnects = 0;  // how often all connections were up again after one was lost
};

// Destroyed after close(), with no claim left.
class connection {
 public:
  virtual ~connection() = default;
  // Whether status() would report trouble. Takes no lock: the core calls it with its own held.
  virtual bool is_unavailable() const noexcept { return false; }
  // The core calls it with its locks held, so it takes no lock under which the core is called.
  virtual connection_status status() { return {}; }
  // A caller's timeout is near: retries that were planned for later are made now.
  virtual void retry_now() noexcept {}
  virtual void flush() {}  // has the transport send the collected requests
  // The loop driven by callers who wait for an answer that concerns no single lock. Null: they just
  // block.
  virtual caller_driver* driver() noexcept { return nullptr; }
  // The connection that keeps the lock of that name: for one name always the same. Overridden where
  // several stores are behind one URL; then the functions above concern all of them.
  virtual connection& of(std::string_view) noexcept { return *this; }
  // Whether the store can keep its promises. What cannot be read is a finding, no failure.
  virtual void diagnose(findings_handler&) = 0;
  // Answers pending requests until then, and none afterwards. True: the store has confirmed that
  // nothing of this client is left, also where a claim ended with outcome_unknown. False: unknown.
  virtual bool close(time_point until) = 0;
  virtual void forked() noexcept = 0;  // in a fork's child: closes descriptors, sends nothing
};

}  // namespace holdfast::seam
