// The locks of a run: one lock, a share of one, permits of a semaphore, or several locks together.
#pragma once
#include <holdfast/client.hpp>
#include <holdfast/multi_mutex.hpp>

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/run_arguments.hpp"

namespace holdfast::cli {

class holding {
 public:
  holding() noexcept = default;
  explicit holding(lease one) noexcept : one_(std::move(one)) {}
  explicit holding(lease_set several) noexcept : several_(std::move(several)) {}

  explicit operator bool() const noexcept { return !leases().empty(); }
  std::span<const lease> leases() const noexcept;  // in the order of the names

  bool held() const noexcept;    // all are
  bool is_asked_for() const;     // one of them, by lease::revocation_token()
  std::string why_lost() const;  // the library's words, of the first that is not
  lease_clock::time_point expires() const noexcept;  // the earliest
  std::string tokens() const;                        // with commas between them
  std::vector<int> descriptors() const;              // of files that are locked

  // Renews the lock and waits for the reply. A lock that was handed over expires soon without a
  // renewal, and on Redis the renewal stores the holder, whom `holders` shows from then on.
  void confirm(std::chrono::nanoseconds ttl) noexcept;
  void release();  // throws lock_error

 private:
  lease one_;
  lease_set several_;
};

// Takes what the arguments say, and waits for `limit`: nothing is forever, zero one attempt. Empty
// when it is busy. Throws lock_error, also when it was stopped.
holding take(const client&, const run_arguments&, std::optional<std::chrono::nanoseconds> limit,
             std::stop_token);

}  // namespace holdfast::cli
