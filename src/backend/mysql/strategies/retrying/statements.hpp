// The statements of a strategy whose locks are rows, each with a lease on the server's clock.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "base/environment.hpp"

namespace holdfast::mysql::retrying {

struct lock_request {
  std::string_view name, owner, note, host;
  std::int64_t pid = 0;
  base::duration ttl{};
};

class statements {
 public:
  // A try is several statements where the lock is busy, or was never requested before. The strategy
  // knows what the reply to each step means.
  virtual std::string try_lock(const lock_request&, std::uint8_t step) const = 0;
  virtual std::string look(std::string_view name) const = 0;  // {owner, microseconds left}
  // Each compares the owner.
  virtual std::string renew(const lock_request&) const = 0;
  virtual std::string release(std::string_view name, std::string_view owner) const = 0;
  // {name, owner, number, note, host, pid, held us, left us} of each lock that is held.
  virtual std::string holders_by_prefix(std::string_view prefix) const = 0;
  virtual std::string holders_of(std::string_view name) const = 0;

 protected:
  ~statements() = default;
};

}  // namespace holdfast::mysql::retrying
