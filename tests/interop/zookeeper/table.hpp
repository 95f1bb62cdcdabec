// The checks of each type of lock in each direction, and the table that shows them.
#pragma once
#include <string>
#include <vector>

#include "tests/interop/result_table.hpp"
#include "tests/interop/zookeeper/contender.hpp"

namespace holdfast::zookeeper_wire {

using interop_test::result_table;

// The nodes of the locks of a table, seen by a client of neither contender.
class queue_view {
 public:
  queue_view(testkit::line_peer& peer, const zookeeper_server& server, std::string queue,
             std::string holders)
      : client_(peer, address_of(server)), queue_(std::move(queue)), holders_(std::move(holders)) {}

  std::size_t queued() const { return count(queue_) + (holders_ == queue_ ? 0 : count(holders_)); }
  std::string text() const { return client_.names(queue_) + ", " + client_.names(holders_); }
  const peer_client& by() const { return client_; }

 private:
  std::size_t count(const std::string& path) const;

  peer_client client_;
  std::string queue_, holders_;  // the nodes whose children wait, and hold
};

// One type of lock against another, a holder against a waiter of the other library.
struct direction {
  const queue_view& nodes;
  result_table& into;
  std::string types;  // "mutex", "write / read"
  contender& holder;
  contender& waiter;

  void exclusion() const;
  void sharing() const;
  void wake_up() const;
  void loss_of_the_holder() const;  // its session ends while the other waits
  void loss_of_the_waiter() const;

  void add(const std::string& what, const std::string& result) const;
  std::shared_future<clock::time_point> asleep() const;  // the waiter
};

// Each of the two holds what the other wants.
template <class Check>
void both_ways(const zookeeper_server& server, const queue_view& nodes, result_table& into,
               const kind& held, const kind& wanted, Check check) {
  const std::string types = held.type == wanted.type ? held.type : held.type + " / " + wanted.type;
  for (const bool ours_holds : {true, false}) {
    const auto holder =
        ours_holds ? contender_of_ours(server, held) : contender_of_theirs(server, held);
    const auto waiter =
        ours_holds ? contender_of_theirs(server, wanted) : contender_of_ours(server, wanted);
    check(direction{nodes, into, types, *holder, *waiter});
    EXPECT_TRUE(eventually([&] { return nodes.queued() == 0; })) << nodes.text();
  }
}

// All that a direction can be tried for, both ways.
void try_everything(const zookeeper_server&, const queue_view&, result_table&, const kind& held,
                    const kind& wanted);

std::string ms_text(clock::duration);

// Five waiters, of each library in turn, enter in the order of their arrival.
void serve_in_order(const zookeeper_server&, const queue_view&, result_table&, const kind&);

// No update is lost by two threads of each library that count under the lock.
void count_together(const zookeeper_server&, const queue_view&, result_table&, const kind&);

}  // namespace holdfast::zookeeper_wire
