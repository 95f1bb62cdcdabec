// Threads that await a reply, and which of them leads the loop of events.
#include "scenario.hpp"
#ifdef HOLDFAST_WITH_REDIS
#include "call.hpp"
#include "io/network/leader_followers.hpp"

namespace holdfast::mutants {
namespace {

using base::mutant;
using namespace std::chrono_literals;

// A reply is awaited, and none arrives.
class silent_server final : public io::engine, public base::loop_user {
 public:
  void run_once(base::duration) noexcept override {}
  void interrupt() noexcept override {}
  void flush() noexcept override {}
  bool has_pending_replies() const noexcept override { return true; }
};

// Two threads await replies. The first one is made the leader, and another thread answers it, both
// before it has come to sleep.
std::string the_second_leads_when_the_first_has_its_answer() {
  silent_server server;
  io::leader_followers baton(server, server, false);
  base::parker first, second;
  base::follower one(first), two(second);
  baton.enlist(one);
  baton.enlist(two);
  if (!baton.promote()) return "nobody leads";
  first.signal();
  baton.sleep_until_signalled(one);
  const bool second_leads = baton.is_held() && baton.taken_by_callers() == 2;
  second.signal();
  baton.sleep_until_signalled(two);
  return second_leads ? "" : "the second awaits a reply, and nobody reads it";
}

// A thread waits for another of its client. What the server says meanwhile is for others to read.
std::string a_local_waiter_sleeps() {
  silent_server server;
  io::leader_followers baton(server, server, false);
  base::parker parker;
  base::follower waiter(parker);
  bool leads = false;
  {
    const call<bool> sleeper([&](const std::stop_token&) {
      baton.sleep_until_signalled(waiter);
      return true;
    });
    while (!leads && !testkit::falls_asleep(::getpid(), sleeper.thread(), 25ms))
      leads = baton.is_held();
    parker.signal();
  }
  return leads ? "whoever waits for a local hand-off is kept busy by the loop" : "";
}

}  // namespace

std::span<const scenario> thread_scenarios() {
  static constexpr scenario all[] = {
      {mutant::leadership_not_passed, "network", the_second_leads_when_the_first_has_its_answer},
      {mutant::early_answer_keeps_leadership, "network",
       the_second_leads_when_the_first_has_its_answer},
      {mutant::local_waiter_leads, "network", a_local_waiter_sleeps},
  };
  return all;
}

}  // namespace holdfast::mutants
#else
namespace holdfast::mutants {
std::span<const scenario> thread_scenarios() { return {}; }
}  // namespace holdfast::mutants
#endif
