// Claims on ZooKeeper locks.
#include "scenario.hpp"

#ifdef HOLDFAST_WITH_ZOOKEEPER
#include "backend/zookeeper/recipes/permits.hpp"
#include "tests/unit/backend/zookeeper/layouts/played_outage.hpp"
#include "tests/unit/backend/zookeeper/transport/session_fixture.hpp"

namespace holdfast::mutants {
namespace {

using base::mutant;
using namespace zookeeper_unit;
using namespace std::chrono_literals;
using zookeeper::opcode;

// Another claim's node may have this sequence too, and then the GUIDs decide.
std::string a_claim_near_its_limit_is_refused() {
  layout_fixture t;
  t.acquire();
  (void)t.requests();
  t.answer(5, layout_fixture::created(t.own_name("2147483647")));
  t.answer(5, layout_fixture::stat(1, 1, 5));
  return t.told.take().empty() ? "" : "it holds the lock by a sequence that is not its own";
}

std::string a_claim_with_a_negative_rival_is_refused() {
  layout_fixture t;
  t.acquire();
  (void)t.requests();
  const std::string own = t.own_name("0000000002");
  t.answer(5, layout_fixture::created(own));
  t.answer(5, layout_fixture::stat(1, 2, 5));
  (void)t.requests();
  t.answer(5, layout_fixture::children({own, "_c_a-lock--2147483648"}));
  return t.requests() == "delete" ? "" : "it waits behind a node that was created after its own";
}

std::string a_lost_semaphore_keeps_no_permit() {
  namespace recipe = zookeeper;
  recipe::permit_recipe claim;
  recipe::permit_recipe::reply granted;
  (void)claim.acquire({}, {}, {});
  granted.what = recipe::permit_verdict::granted;
  granted.epoch = claim.epoch();
  (void)claim.on(granted, {}, {});
  return claim.on_own_lease(true).orphan ? "" : "its other permits stay while its session lives";
}

std::string a_later_waiter_waits_as_long() {
  played_outage t;
  t.last(8s);
  t.acquire();
  t.last(outage_timeout / 2);
  return t.told.take().empty() ? "" : "its wait was shorter than the outage-timeout";
}

std::string a_wait_ends_after_a_last_attempt() {
  played_outage t;
  t.last(300ms);
  t.acquire();
  t.last(outage_timeout);
  const auto end = 300ms + outage_timeout;
  return t.attempted_between(end - last_attempt_lead, end)
             ? ""
             : "the server may have been back for two seconds";
}

std::string the_doubt_of_a_session_reaches_its_leases() {
  played_outage t;
  t.be_granted();
  t.lose();
  return t.told.doubts == 1 ? "" : "the holder does not learn that its connection is lost";
}

std::string an_overdue_reply_is_pinged_after_a_cut() {
  session_fixture t;
  noted_replies a;
  t.attach();
  t.s.submit(a, opcode::sync, "A", t.now());
  t.pass(200ms);  // sends a ping
  t.lose();
  t.open();
  t.give(connected(timeout_ms, session_id));
  t.s.submit(a, opcode::sync, "B", t.now());
  (void)t.sent();
  t.pass(200ms);
  return t.sent().size() == 1 ? "" : "a server that parks the reply is not pinged";
}

constexpr scenario all_of_claims[] = {
    {mutant::sequence_limit_ignored, "zookeeper", a_claim_near_its_limit_is_refused},
    {mutant::sequence_limit_ignored, "zookeeper", a_claim_with_a_negative_rival_is_refused},
    {mutant::late_waiter_given_up, "zookeeper", a_later_waiter_waits_as_long},
    {mutant::last_attempt_omitted, "zookeeper", a_wait_ends_after_a_last_attempt},
    {mutant::session_doubt_dropped, "zookeeper", the_doubt_of_a_session_reaches_its_leases},
    {mutant::ping_of_a_lost_connection_awaited, "zookeeper",
     an_overdue_reply_is_pinged_after_a_cut},
    {mutant::nodes_of_the_lost_kept, "zookeeper", a_lost_semaphore_keeps_no_permit},
};

}  // namespace

std::span<const scenario> zookeeper_claim_scenarios() { return all_of_claims; }

}  // namespace holdfast::mutants
#else
namespace holdfast::mutants {
std::span<const scenario> zookeeper_claim_scenarios() { return {}; }
}  // namespace holdfast::mutants
#endif
