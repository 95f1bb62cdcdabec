// Calls on locks that a test makes by hand, written down as a history and judged.
#pragma once
#include <holdfast/holdfast.hpp>

#include <mutex>
#include <stop_token>
#include <string>
#include <vector>

#include "history/checker.hpp"

namespace holdfast::fault_test {

// `process` as in history/history.hpp: whoever makes one call after another. Any thread may call.
class call_recorder {
 public:
  // Waits without a bound. An empty lease: why it failed is recorded as an unknown outcome.
  lease acquire(const std::string& process, const client&, const std::string& lock);
  // Waits until stop is requested.
  lease acquire_until(std::stop_token, const std::string& process, const client&,
                      const std::string& lock);
  bool check(const std::string& process, const lease&);  // held()
  std::error_code release(const std::string& process, lease&);

  std::vector<history::violation> violations(const history::check_options& = {}) const;

 private:
  history::record begin(const std::string& process, const std::string& lock,
                        history::operation) const;
  void end(history::record, history::result);
  void note_grant(history::record, const lease&, std::error_code);

  mutable std::mutex mutex_;
  std::vector<history::record> records_;
};

}  // namespace holdfast::fault_test
