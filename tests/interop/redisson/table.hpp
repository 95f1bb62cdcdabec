// What is checked of each type of lock in each direction, and the table that it is printed as.
#pragma once
#include <string>
#include <vector>

#include "tests/interop/redisson/party.hpp"

namespace holdfast::redisson_test {

// Printed at the end of its life. Times are shown and never judged.
class table {
 public:
  explicit table(std::string layout) : layout_(std::move(layout)) {}
  ~table();
  table(const table&) = delete;
  table& operator=(const table&) = delete;

  // A line; its result is FAILED when a check failed since the line before.
  void add(const std::string& types, const party& holder, const party& waiter,
           const std::string& what, const std::string& result);

 private:
  std::string layout_;
  std::vector<std::string> lines_;
  int failures_ = 0;
};

// One type of lock against another, a holder against a waiter of the other library.
struct direction {
  redis_server& server;
  table& into;
  std::string types;  // "lock", "write / read"
  party& holder;
  party& waiter;
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
