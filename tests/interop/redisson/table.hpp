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
  deployment on;
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

// Each of the two holds what the other wants.
template <class Check>
void both_ways(const deployment& on, table& into, const kind& held, const kind& wanted,
               const std::string& channel, Check check) {
  const std::string types = held.type == wanted.type ? held.type : held.type + " / " + wanted.type;
  for (const bool ours_holds : {true, false}) {
    const auto holder = ours_holds ? contender_of_ours(on, held) : contender_of_redisson(on, held);
    const auto waiter =
        ours_holds ? contender_of_redisson(on, wanted) : contender_of_ours(on, wanted);
    check(direction{on, into, types, *holder, *waiter, channel});
    EXPECT_EQ(on.server.command({"EXISTS", "x"}).number, 0);
  }
}

// No update is lost by two threads of each library that count under the lock.
void count_together(const deployment&, table&, const kind&);

}  // namespace holdfast::redisson_test
