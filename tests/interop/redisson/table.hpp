// The checks of each type of lock in each direction, and the table that shows them.
#pragma once
#include <string>
#include <vector>

#include "tests/interop/redisson/contender.hpp"
#include "tests/interop/result_table.hpp"

namespace holdfast::redisson_test {

using table = interop_test::result_table;

// One type of lock against another, a holder against a waiter of the other library.
struct direction {
  redis_server& server;
  table& into;
  std::string types;  // "lock", "write / read"
  contender& holder;
  contender& waiter;
  std::string channel;  // the waiter subscribes to one that starts so; empty: it polls

  void exclusion() const;
  void wake_up() const;  // by a release, long before the lease of 60 s would end
  void expiry() const;   // of a holder that is gone
  void watchdog() const;
  void forced() const;  // by the waiter's library
  void all() const;

  void add(const std::string& what, const std::string& result) const;
  void add(const std::string& what, clock::duration d) const;
  std::shared_future<clock::time_point> asleep() const;  // the waiter
};

// No update is lost by two threads of each library that count under the lock.
void count_together(redis_server&, table&, const kind&);

}  // namespace holdfast::redisson_test
