// A way to exclude others, as the survey sees it.
#pragma once
#include <sys/types.h>
#include <chrono>
#include <cstdint>

#include <memory>
#include <span>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

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
  // The programs other than this one in which the locks are used.
  virtual std::vector<pid_t> processes() const { return {}; }
  // Updates that were reported as written, and are not. After the workers have ended.
  virtual std::uint64_t lost_updates() { return 0; }
};

// A lock that cannot be used here; what() begins with "skipped: ".
struct subject_missing : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct lock_row {
  std::string_view name;             // in the table: "setnx"
  std::string_view what;             // for the report
  std::string_view backends;         // of the topologies that have it, separated by spaces
  std::string_view options;          // of the URL
  bool renewed = true;               // false: a lease has an end that nothing extends
  bool is_unsafe = false;            // a demonstration: two may hold it together
  bool is_peer = false;              // another library: measured with --peers
  std::string_view topologies = {};  // of the backends', the ones that it is for; none: all
  // Default: a mutex of a client.
  std::unique_ptr<subject> (*make)(const deployment&, const load&) = nullptr;
};

std::span<const lock_row> lock_rows() noexcept;
bool is_for(const lock_row&, const topology&) noexcept;
// Throws holdfast::lock_error: the store has no such lock; and subject_missing.
std::unique_ptr<subject> make_subject(const lock_row&, const deployment&, const load&);

#ifdef HOLDFAST_WITH_MYSQL
// Updates of one row, without a lock: the row's version is compared when it is written.
std::unique_ptr<subject> updates_by_version(const deployment&, const load&);
std::unique_ptr<subject> updates_by_time(const deployment&, const load&);
#endif

#ifdef HOLDFAST_WITH_REDIS
std::unique_ptr<subject> real_redisson(const deployment&, const load&);
#endif
#ifdef HOLDFAST_WITH_ZOOKEEPER
std::unique_ptr<subject> real_curator(const deployment&, const load&);
std::unique_ptr<subject> real_kazoo(const deployment&, const load&);
#endif

}  // namespace survey
