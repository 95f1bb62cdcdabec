// The servers on which locks are measured: real ones, started for it.
#pragma once
#include <sys/types.h>

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace survey {

class deployment {
 public:
  virtual ~deployment() = default;
  virtual std::string url() const = 0;
  virtual std::vector<pid_t> servers() const { return {}; }  // those that run
  virtual double commands() { return 0; }                    // that they have executed until now
  virtual double memory() { return 0; }                      // bytes in use; 0: not known
};

struct topology {
  std::string_view name;
  std::string_view what;  // for the report
  std::string_view backend;
  // Throws std::runtime_error when the servers do not come up.
  std::unique_ptr<deployment> (*start)();
  // Why it cannot be started here: "skipped: ..."; nullptr: it can.
  const char* (*missing)();
};

std::span<const topology> topologies() noexcept;

// The backends' parts of the table.
std::span<const topology> redis_topologies() noexcept;
std::span<const topology> zookeeper_topologies() noexcept;
std::span<const topology> mysql_topologies() noexcept;

}  // namespace survey
