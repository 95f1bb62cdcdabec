// Belief in a session at ZooKeeper.
#include "scenario.hpp"

#ifdef HOLDFAST_WITH_ZOOKEEPER
#include "backend/zookeeper/layouts/curator_semaphore/codec.hpp"
#include "backend/zookeeper/layouts/held_write.hpp"
#include "backend/zookeeper/layouts/nodes_ahead.hpp"
#include "backend/zookeeper/recipes/single_node.hpp"
#include "tests/unit/backend/zookeeper/layouts/layout_fixture.hpp"
#include "tests/unit/backend/zookeeper/recipes/played_claim.hpp"
#include "tests/unit/backend/zookeeper/transport/session_fixture.hpp"

namespace holdfast::mutants {
namespace {

using base::mutant;
using namespace zookeeper_unit;
using zookeeper::opcode;

const std::string again = connected(timeout_ms, session_id);

// Its ConnectRequest was sent a second after that of the new session.
struct attached_again : session_fixture {
  attached_again() {
    attach();
    before = deadline;
    pass(1s);
    lose();
    open();
    sent();
    give(again);
  }
  time_point before;
};

std::string only_a_write_renews() {
  attached_again t;
  noted_replies read;
  t.give(replied(1, 5, zookeeper::error::no_node));  // the renewing write, as it happens, failed
  t.s.submit(read, opcode::sync, "", t.now());
  t.give(replied(2, 5));
  return t.deadline == t.before ? "" : "a follower answered by itself, and that counted";
}

std::string attaching_needs_a_write() {
  attached_again t;
  const time_point in_force = t.s.deadline().deadline();
  return in_force == t.before ? "" : "a follower attached the session, and that counted";
}

std::string a_follower_passes_no_touch_on() {
  session_fixture t;
  noted_replies write;
  t.attach();
  const time_point before = t.deadline;
  t.pass(1s);
  t.s.submit(write, opcode::set_data, "", t.now());
  t.give(replied(1, 5, zookeeper::error::ok, stat_bytes({})));
  return t.deadline == before ? "" : "a write through a follower counted";
}

// It led, lost its role, and attached the session as a follower.
std::string a_server_is_asked_once_attached() {
  zookeeper::ensemble terms = ensemble_of(1);
  terms.attach = zookeeper::attach_to::leader;
  session_fixture t(std::move(terms));
  noted_replies write;
  t.attach();
  t.open(channel::mode);
  t.give("Zookeeper version: 3.8.0\nMode: leader\n", channel::mode);
  t.lose();
  t.open();
  t.sent();
  t.give(again);
  const time_point before = t.deadline;
  t.give(replied(1, 5, zookeeper::error::no_node));  // the renewing write, as it happens, failed
  t.pass_silently(1s);
  t.s.submit(write, opcode::set_data, "", t.now());
  t.give(replied(2, 5, zookeeper::error::ok, stat_bytes({})));
  return t.deadline == before ? "" : "it led a moment ago, and a write through it counted";
}

std::string a_late_acknowledgement_is_none() {
  zookeeper::session_deadline d;
  const time_point begin{1'000s};
  d.create(begin, session_timeout);
  (void)d.attach(begin + 5s, session_timeout);
  const auto write = d.mark(begin + 6s);
  return d.acknowledge(write, begin + session_timeout) ? "the deadline had passed, and it moved"
                                                       : "";
}

std::string the_smallest_time_out_counts() {
  session_fixture t;
  t.attach();
  t.lose();
  t.open();
  t.sent();
  t.give(connected(20'000, session_id));
  return t.s.id() == 0 ? "" : "followers go back to the smaller timeout, and it is believed";
}

std::string a_lapsed_session_is_replaced() {
  session_fixture t;
  t.attach();
  t.pass_silently(session_timeout);
  t.give(replied(-2, 5));
  return t.s.id() == 0 ? "" : "the server still answers, and the session is believed";
}

std::string waiters_queue_with_the_next_session() {
  session_fixture t;
  noted_replies queued;
  t.attach();
  t.when_lost = [&] { t.s.submit(queued, opcode::create, "A", t.now()); };
  t.pass_silently(session_timeout);
  t.give(replied(-2, 5));
  return t.sent().size() == 1 ? "" : "it was sent to a session that is being closed";
}

// It repeats requests that were cut with a session until it learns that the session is lost.
struct asking_again final : noted_replies {
  explicit asking_again(session_fixture& t) : at(t) {
    at.when_lost = [this] { knows = true; };
  }
  void on_cut(bool, const zookeeper::reply_context& context) override {
    if (!knows) at.s.submit(*this, opcode::multi, "A", context.now);
  }
  session_fixture& at;
  bool knows = false;
};

std::string a_request_ends_with_its_session() {
  session_fixture t;
  asking_again claim(t);
  t.attach();
  t.lose();
  t.s.submit(claim, opcode::multi, "A", t.now());
  t.pass(session_timeout);
  t.open();
  t.give(again);  // to be closed
  t.lose();
  t.open();
  (void)t.sent();
  t.give(connected(timeout_ms, session_id + 1));
  return t.sent().empty() ? "" : "the next session does what was asked of the one before";
}

std::string a_read_only_server_is_refused() {
  session_fixture t;
  t.s.open(t.now());
  t.open();
  t.give(connected(timeout_ms, session_id, "0123456789abcdef", true));
  return t.s.id() == 0 ? "" : "a server without a quorum was believed";
}

std::string watches_move_with_the_session() {
  session_fixture t;
  noted_replies watch;
  t.attach();
  t.s.submit(watch, opcode::exists, "", t.now(), "/a");
  t.give(replied(1, 5, zookeeper::error::ok, stat_bytes({})));
  t.lose();
  t.open();
  t.sent();
  t.give(again);
  return t.sent().size() == 2 ? "" : "nobody is told any more when the node goes";
}

std::string state_after(const std::string& path) {
  zookeeper::recipe_tests::played_claim claim;
  claim.play(path);
  return zookeeper::recipe_tests::name_of(claim.recipe().now_in());
}

// Watched are a and b, nearer, and more is ahead.
zookeeper::what_is_ahead left_by_the_end_of(std::string_view name) {
  zookeeper::nodes_ahead ahead;
  ahead.show({"b", "a"}, false);
  ahead.ask_of_each([](const std::string&) {});
  for (const unsigned answer : {0u, 1u}) ahead.on_watched(answer, 5);
  ahead.on_event(name, true, 9);
  return ahead.now();
}

// Its blocker was another claim that waited, and the holder is still there.
std::string a_waiter_that_gave_up_grants_nothing() {
  return left_by_the_end_of("b") == zookeeper::what_is_ahead::watched
             ? ""
             : "the claim ahead stopped waiting, and that was taken for a release";
}

// Of those that are watched it was the farthest, and the holder stands before all of them.
std::string the_end_of_the_farthest_calls_for_a_list() {
  return left_by_the_end_of("a") == zookeeper::what_is_ahead::unknown
             ? ""
             : "it takes those that it watches for all, while others stand before them";
}

std::string a_removed_node_ends_the_grant() {
  return state_after("acquire granted wake watched on_own_end") == "lost"
             ? ""
             : "an operator removed the node of the holder, who still holds";
}

std::string a_moved_session_is_granted_nothing_by_an_event() {
  return state_after("acquire created behind watched on_attached on_nothing") == "listing"
             ? ""
             : "its own node may have gone while the session moved, and the event granted";
}

std::string a_lost_create_is_looked_for() {
  return state_after("acquire cut") == "resolving" ? "" : "two nodes of one claim may be there";
}

// The node before its own was removed and made again while it looked the other way.
std::string a_younger_node_grants_nothing() {
  layout_fixture t;
  t.acquire();
  (void)t.requests();
  const std::string own = t.own_name("0000000002"), before = "_c_a-lock-0000000001";
  t.answer(5, layout_fixture::created(own));
  t.answer(5, layout_fixture::stat(1, 2, 5));
  (void)t.requests();
  t.answer(5, layout_fixture::children({own, before}));
  (void)t.requests();
  t.answer(9, layout_fixture::data(9));
  t.answer(9, layout_fixture::data(5));
  t.give(event(zookeeper::event_kind::deleted, layout_fixture::node(before)));
  return t.told.take().empty() ? "" : "a node came in between, and its end was taken for a turn";
}

std::string a_node_of_an_older_session_is_left_alone() {
  layout_fixture t;
  t.acquire();
  (void)t.requests();
  const std::string own = t.own_name("0000000001");
  t.move();
  t.answer(10);  // sync
  t.answer(10, layout_fixture::children({own}));
  (void)t.requests();
  t.answer(10, layout_fixture::stat(6, 0, 0, layout_fixture::session + 1));
  return t.told.take().empty() ? "" : "the node ends with a session that this client has lost";
}

std::string a_downgrade_keeps_the_place() {
  layout_fixture t("layout=curator-rw");
  t.acquire();
  (void)t.requests();
  t.answer(5, layout_fixture::created(t.own_name("0000000007")));
  t.answer(5, layout_fixture::stat(1, 1, 5));
  t.claim->downgrade();
  (void)t.requests();
  return t.last_request.find("__READ__0000000007") != std::string::npos
             ? ""
             : "a writer that waits comes before the reader that was the writer";
}

std::string a_request_for_the_lock_is_read() {
  layout_fixture t("layout=curator-rw");
  t.acquire();
  (void)t.requests();
  std::string own = t.own_name("0000000007");
  t.answer(5, layout_fixture::created(own));
  t.answer(5, layout_fixture::stat(1, 1, 5));
  t.claim->downgrade();
  (void)t.requests();
  own.replace(own.find("WRIT"), 4, "READ");
  t.answer(6, layout_fixture::replaced_by(own));
  t.answer(7, layout_fixture::data(6, "__REVOKE__"));
  return t.told.take() == "granted 5, asked" ? "" : "an operator asked for the lock, unheard";
}

// Between the downgrade and its answer: the node has another name by then.
std::string a_downgrade_is_not_taken_for_a_removal() {
  zookeeper::recipe_tests::played_claim claim;
  return claim.play("acquire granted downgrade wake") == "held"
             ? ""
             : "it looks for the node of the writer, and is told that there is none";
}

std::string a_lease_beyond_the_total_waits() {
  namespace semaphore = zookeeper::curator_semaphore;
  const base::uuid mine = semaphore::with_total({1, 2}, 1);
  const std::string own = semaphore::lease_name(mine) + "0000000001";
  const std::string_view all[] = {"_c_x-lease-0000000000", own};
  return semaphore::read_leases(all, mine, 1).hold ? "two hold the only permit" : "";
}

// The removal was executed, its reply was lost, and another client has made the node since.
std::string a_repeated_removal_looks_first() {
  using recipe = zookeeper::single_node_recipe;
  recipe claim;
  seam::acquire_request request;
  recipe::reply granted;
  (void)claim.acquire(request, {}, {});
  granted.what = zookeeper::single_node_verdict::granted;
  granted.epoch = claim.epoch();
  (void)claim.on(granted, {}, {});
  (void)claim.release({}, {});
  (void)claim.on_cut(zookeeper::single_node_operation::remove, claim.epoch(), {}, {});
  return claim.is_first_removal() ? "it deletes whatever node is there" : "";
}

std::string a_guarded_write_checks_the_lock() {
  const std::string nodes[] = {"/job/holder"};
  const std::string body = zookeeper::held_write_body(nodes, {"job", "holder", "/data", "x"});
  return body.find("/job/holder") != body.npos ? "" : "a holder whose node is gone writes";
}

constexpr scenario all_of_zookeeper[] = {
    {mutant::deadline_by_any_reply, "zookeeper", only_a_write_renews},
    {mutant::attachment_alone_renews, "zookeeper", attaching_needs_a_write},
    {mutant::write_at_follower_renews, "zookeeper", a_follower_passes_no_touch_on},
    {mutant::old_role_believed, "zookeeper", a_server_is_asked_once_attached},
    {mutant::late_acknowledgement_counted, "zookeeper", a_late_acknowledgement_is_none},
    {mutant::renegotiated_timeout_believed, "zookeeper", the_smallest_time_out_counts},
    {mutant::lapsed_session_believed, "zookeeper", a_lapsed_session_is_replaced},
    {mutant::queued_with_the_lost_session, "zookeeper", waiters_queue_with_the_next_session},
    {mutant::lost_request_repeated, "zookeeper", a_request_ends_with_its_session},
    {mutant::old_name_watched, "zookeeper", a_downgrade_is_not_taken_for_a_removal},
    {mutant::read_only_server_believed, "zookeeper", a_read_only_server_is_refused},
    {mutant::held_write_unchecked, "zookeeper", a_guarded_write_checks_the_lock},
    {mutant::watches_not_set_again, "zookeeper", watches_move_with_the_session},
    {mutant::predecessor_that_gave_up, "zookeeper", a_waiter_that_gave_up_grants_nothing},
    {mutant::end_of_farthest_believed, "zookeeper", the_end_of_the_farthest_calls_for_a_list},
    {mutant::own_end_unseen, "zookeeper", a_removed_node_ends_the_grant},
    {mutant::event_after_attaching_grants, "zookeeper",
     a_moved_session_is_granted_nothing_by_an_event},
    {mutant::create_repeated, "zookeeper", a_lost_create_is_looked_for},
    {mutant::younger_blocker_believed, "zookeeper", a_younger_node_grants_nothing},
    {mutant::node_of_another_session_adopted, "zookeeper",
     a_node_of_an_older_session_is_left_alone},
    {mutant::downgrade_loses_the_place, "zookeeper", a_downgrade_keeps_the_place},
    {mutant::revocation_unread, "zookeeper", a_request_for_the_lock_is_read},
    {mutant::lease_beyond_total_holds, "zookeeper", a_lease_beyond_the_total_waits},
    {mutant::removal_by_path_repeated, "zookeeper", a_repeated_removal_looks_first},
};

}  // namespace

std::span<const scenario> zookeeper_scenarios() { return all_of_zookeeper; }

}  // namespace holdfast::mutants
#else
namespace holdfast::mutants {
std::span<const scenario> zookeeper_scenarios() { return {}; }
}  // namespace holdfast::mutants
#endif
