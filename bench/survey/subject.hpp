// A way to exclude others, as the survey sees it.
#pragma once
#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>

#include "survey/deployment.hpp"
#include "survey/load.hpp"

namespace survey {

// Ready for the workers of one load. Each worker is a thread and uses its own number.
class subject {
 public:
  virtual ~subject() = default;
  // Whether the lock was acquired within the wait. Throws holdfast::lock_error.
  virtual bool acquire(unsigned worker, std::chrono::milliseconds wait, std::stop_token) = 0;
  virtual void release(unsigned worker) = 0;
  // False: what it does is done when acquire() returns, and several workers may be there at once.
  virtual bool excludes() const { return true; }
  // Updates that were reported as written, and are not. After the workers have ended.
  virtual std::uint64_t lost_updates() { return 0; }
};

struct lock_row {
  std::string_view name;      // in the table: "setnx"
  std::string_view what;      // for the report
  std::string_view backends;  // of the topologies that have it, separated by spaces
  std::string_view options;   // of the URL
  bool renewed = true;        // false: a lease has an end that nothing extends
  bool is_unsafe = false;     // a demonstration: two may hold it together
  // Default: a mutex of a client.
  std::unique_ptr<subject> (*make)(const deployment&, const load&) = nullptr;
};

std::span<const lock_row> lock_rows() noexcept;
bool is_for(const lock_row&, const topology&) noexcept;
// Throws holdfast::lock_error: the store has no such lock.
std::unique_ptr<subject> make_subject(const lock_row&, const deployment&, const load&);

#ifdef HOLDFAST_WITH_MYSQL
// Updates of one row, without a lock: the row's version is compared when it is written.
std::unique_ptr<subject> updates_by_version(const deployment&, const load&);
std::unique_ptr<subject> updates_by_time(const deployment&, const load&);
#endif

}  // namespace survey
