// A holder at a server whose link to the leader fails, and a rival that waits at another.
#pragma once
#include <holdfast/holdfast.hpp>

#include <chrono>
#include <string>
#include <vector>

#include "rounds.hpp"
#include "testkit/servers/zookeeper_ensemble.hpp"
#include "tests/fault/call_recorder.hpp"

namespace holdfast::zookeeper_test {

enum class link_fault {
  follower_frozen,  // it goes on answering what it can by itself
  follower_cut,
  report_lost,       // frozen after a tick in which it has not reported whose requests it had
  leader_isolated,   // both links frozen: the others elect another leader
  leader_forgotten,  // likewise, and the others are started anew: they elect one at once
};

struct link_round_terms {
  link_fault fault{};
  std::chrono::milliseconds timeout{};  // of the holder's session, and more in later rounds
  std::string options{};                // further ones of its URL
  bool holder_is_busy = false;          // it writes all the time, for another lock
};

struct link_result {
  int rounds = 0, overlaps = 0;  // an overlap: the history of a round says that two held
  double margin_min = 1e9;       // from the holder's deadline to the rival's grant, in seconds

  void print(const char* what) const;
};

class link_fixture {
 public:
  explicit link_fixture(const testkit::zookeeper_options& o) : tick_(o.tick), all_(o) {}

  void play(const link_round_terms&, link_result&);

 private:
  struct places {  // ids of servers
    int holder, leader, first, second;
  };
  bool serves();
  void begin(link_fault, const places&, const std::vector<testkit::tcp_proxy*>& links);

  const std::chrono::milliseconds tick_;
  testkit::zookeeper_ensemble all_;
};

}  // namespace holdfast::zookeeper_test
