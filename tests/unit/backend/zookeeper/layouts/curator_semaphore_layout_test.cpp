// A semaphore's claim, and the leases that the server lists.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backend/zookeeper/held_nodes.hpp"
#include "backend/zookeeper/layouts/claim_batch.hpp"
#include "backend/zookeeper/layouts/curator_semaphore/codec.hpp"
#include "backend/zookeeper/layouts/node_data.hpp"
#include "tests/unit/backend/zookeeper/layouts/layout_fixture.hpp"

namespace holdfast::zookeeper_unit {
namespace {

using zookeeper::error;
using zookeeper::event_kind;

// The node's own name, without its path.
std::string node_name_of(const std::string& path) {
  return std::string(zookeeper::last_part(path));
}

// Others had all permits: it waits at the head of the queue, and its connection was lost while it
// asked for its lease. Now the server lists that lease, and the claim looks at it.
struct semaphore_claim : layout_fixture {
  semaphore_claim() : layout_fixture("layout=curator-semaphore") {
    claim->acquire({.mode = lock_mode::permit, .permits = 1, .total_permits = 1});
    EXPECT_EQ(requests(), "create list exists");
    answer(5, created(own_name("0000000002")));
    answer(5, children({"_c_other-lease-0000000001", own()}));
    answer(5, error::no_node);
    EXPECT_EQ(requests(), "delete");
    answer(6);
    EXPECT_EQ(requests(), "create list");
    answer(7, created(own_name("0000000001")));
    answer(7, children({node_name_of(own_name("0000000001"))}));
    EXPECT_EQ(requests(), "create list");
    move();
    EXPECT_EQ(sent_again(), "sync list");
    answer(8);
    answer(9, children({own()}));
    EXPECT_EQ(requests(), "exists");
  }
  std::string own() const { return node_name_of(own_name("0000000002")); }
};

TEST(zookeeper_semaphore_layout, a_lease_that_was_made_before_the_connection_was_lost_is_used) {
  semaphore_claim t;
  t.answer(9, layout_fixture::stat(8));
  EXPECT_EQ(t.told.take(), "granted 8");
}

TEST(zookeeper_semaphore_layout, a_lease_that_is_removed_while_it_is_looked_at_is_asked_for_anew) {
  semaphore_claim t;
  t.answer(10, error::no_node);
  EXPECT_EQ(t.told.take(), "") << "the claim waits on";
  EXPECT_EQ(t.requests(), "delete delete");
}

TEST(zookeeper_semaphore_layout, a_lease_of_an_earlier_session_is_not_its_own) {
  semaphore_claim t;
  t.answer(9, layout_fixture::stat(8, 0, 0, layout_fixture::session + 1));
  EXPECT_EQ(t.told.take(), "");
  EXPECT_EQ(t.requests(), "delete delete");
}

// Nobody else had a permit.
struct semaphore_holder : layout_fixture {
  semaphore_holder() : layout_fixture("layout=curator-semaphore") {
    claim->acquire({.mode = lock_mode::permit, .permits = 1, .total_permits = 1});
    EXPECT_EQ(requests(), "create list exists");
    own = own_name("0000000001");
    answer(5, created(own));
    answer(5, children({node_name_of(own)}));
    answer(5, error::no_node);
    EXPECT_EQ(told.take(), "granted 5");
  }
  void remove(const std::string& node_of_lock) {
    give(event(event_kind::deleted, node(node_of_lock)));
  }
  std::string own;
};

TEST(zookeeper_semaphore_layout, a_holder_has_lost_its_permit_once_its_lease_is_removed) {
  semaphore_holder t;
  t.remove("leases/_c_other-lease-0000000002");
  EXPECT_EQ(t.told.take(), "");
  t.remove(t.own);
  EXPECT_EQ(t.told.take(), "lost");
}

TEST(zookeeper_semaphore_layout, a_holder_watches_its_lease_and_is_asked_to_give_it_back) {
  semaphore_holder t;
  t.pass(std::chrono::milliseconds{200});
  EXPECT_EQ(t.requests(), "watch");
  t.answer(5, layout_fixture::data(5, zookeeper::revocation_data));
  EXPECT_EQ(t.told.take(), "asked");
}

TEST(zookeeper_semaphore_layout, one_that_is_in_use_with_another_number_of_permits_is_refused) {
  using namespace zookeeper::curator_semaphore;
  layout_fixture t("layout=curator-semaphore");
  t.claim->acquire({.mode = lock_mode::permit, .permits = 1, .total_permits = 2});
  EXPECT_EQ(t.requests(), "create list exists");
  t.answer(5, layout_fixture::created(t.own_name("0000000002")));
  const std::string of_five = lease_name(with_total({1, 2}, 5)) + "0000000001";
  t.answer(5, layout_fixture::children({of_five}));
  t.answer(5, error::no_node);
  EXPECT_EQ(t.requests(), "delete");
  t.answer(6);
  EXPECT_EQ(t.told.take(), "refused");
  EXPECT_EQ(t.told.why.code, errc::mismatch);
  EXPECT_EQ(t.told.why.text,
            "the semaphore is in use with 5 permits, not 2: use another name for one of them");
}

TEST(zookeeper_semaphore_layout, several_permits_are_made_and_granted_in_one_transaction) {
  layout_fixture t("layout=curator-semaphore");
  t.claim->acquire({.mode = lock_mode::permit, .permits = 2, .total_permits = 3});
  EXPECT_EQ(t.requests(), "multi list exists");
  const std::string lease = t.claim->owner() + "-lease-", &multi = t.last_requests.front();
  const std::size_t first = multi.find("/x/leases/" + lease);
  ASSERT_NE(first, multi.npos);
  const std::size_t second = multi.find("/x/leases/" + lease, first + 1);
  ASSERT_NE(second, multi.npos);
  EXPECT_EQ(multi.find(lease, second + lease.size()), multi.npos);
  const std::string names[] = {lease + "0000000001", lease + "0000000002"};
  t.answer(5, layout_fixture::all_created({"leases/" + names[0], "leases/" + names[1]}));
  t.answer(5, layout_fixture::children({names[0], names[1]}));
  t.answer(5, error::no_node);
  EXPECT_EQ(t.told.take(), "granted 5");
  t.claim->release(nullptr);
  EXPECT_EQ(t.requests(), "delete delete");
}

TEST(zookeeper_semaphore_layout, more_permits_than_fit_into_one_transaction_are_unsupported) {
  layout_fixture t("layout=curator-semaphore");
  t.claim->acquire({.mode = lock_mode::permit, .permits = 1001, .total_permits = 2000});
  EXPECT_EQ(t.told.take(), "refused");
  EXPECT_EQ(t.told.why.code, errc::unsupported);
  EXPECT_EQ(t.requests(), "");
}

// Its leases were requested, with a list of all and a look at the queue.
struct semaphore_taker : layout_fixture {
  semaphore_taker() : layout_fixture("layout=curator-semaphore") {
    claim->acquire({.mode = lock_mode::permit, .permits = 1, .total_permits = 1});
    EXPECT_EQ(requests(), "create list exists");
  }
  std::string own_lease(const std::string& sequence) const {
    return node_name_of(own_name(sequence));
  }
};

TEST(zookeeper_semaphore_layout, a_claim_that_finds_waiters_gives_its_permit_back) {
  semaphore_taker t;
  t.answer(5, layout_fixture::created(t.own_name("0000000001")));
  t.answer(5, layout_fixture::children({t.own_lease("0000000001")}));
  t.answer(5, layout_fixture::stat(1, 1));
  EXPECT_EQ(t.told.take(), "");
  EXPECT_EQ(t.requests(), "delete");
}

// The server removes folders that are empty, also between two creates of one write.
TEST(zookeeper_semaphore_layout, the_folders_are_made_again_when_they_were_removed_meanwhile) {
  semaphore_taker t;
  for (int i = 0; i < 3; ++i) t.answer(5, error::no_node);
  const std::string with_folders = "container container create list exists";
  EXPECT_EQ(t.requests(), with_folders);
  t.answer(6);
  for (int i = 0; i < 4; ++i) t.answer(7, error::no_node);
  EXPECT_EQ(t.told.take(), "");
  EXPECT_EQ(t.requests(), with_folders);
}

TEST(zookeeper_semaphore_layout, the_folders_that_another_client_has_made_are_used) {
  semaphore_taker t;
  for (int i = 0; i < 3; ++i) t.answer(5, error::no_node);
  EXPECT_EQ(t.requests(), "container container create list exists");
  for (int i = 0; i < 2; ++i) t.answer(6, error::node_exists);
  t.answer(7, layout_fixture::created(t.own_name("0000000001")));
  t.answer(7, layout_fixture::children({t.own_lease("0000000001")}));
  t.answer(7, error::no_node);
  EXPECT_EQ(t.told.take(), "granted 7");
}

TEST(zookeeper_semaphore_layout, a_folder_that_may_not_be_made_is_named_by_the_one_above_it) {
  semaphore_taker t;
  for (int i = 0; i < 3; ++i) t.answer(5, error::no_node);
  EXPECT_EQ(t.requests(), "container container create list exists");
  t.answer(6, error::no_auth);
  for (int i = 0; i < 4; ++i) t.answer(7, error::no_node);
  EXPECT_EQ(t.told.take(), "refused");
  EXPECT_EQ(t.told.why.code, errc::refused);
  EXPECT_TRUE(t.told.why.text.starts_with("the ACL of / refuses")) << t.told.why.text;
}

TEST(zookeeper_semaphore_layout, leases_whose_names_cannot_be_read_are_looked_for_and_removed) {
  semaphore_taker t;
  t.answer(5, "x");
  t.answer(5, layout_fixture::children({}));
  t.answer(5, error::no_node);
  EXPECT_EQ(t.told.take(), "refused");
  EXPECT_EQ(t.told.why.code, errc::unavailable);
  EXPECT_EQ(t.requests(), "sync list sync list");
}

TEST(zookeeper_semaphore_layout, a_claim_that_gives_up_early_finds_out_what_it_has_made) {
  semaphore_taker nothing;
  nothing.claim->cancel();
  EXPECT_EQ(nothing.requests(), "sync list list");
  for (int i = 0; i < 6; ++i) nothing.answer(5, error::no_node);
  EXPECT_EQ(nothing.told.take(), "ended");
  EXPECT_FALSE(nothing.told.why.code) << "there is nothing to remove";

  semaphore_taker one;
  one.claim->cancel();
  EXPECT_EQ(one.requests(), "sync list list");
  for (int i = 0; i < 3; ++i) one.answer(5, error::no_node);
  one.answer(6);
  one.answer(6, layout_fixture::children({"_c_other-lease-0000000001", one.own_lease("2")}));
  one.answer(6, error::no_node);
  EXPECT_EQ(one.requests(), "delete");
  EXPECT_NE(one.last_request.find(one.own_lease("2")), std::string::npos);
  EXPECT_EQ(one.told.take(), "");
  one.answer(7);
  EXPECT_EQ(one.told.take(), "ended");
}

TEST(zookeeper_semaphore_layout, replies_to_a_destroyed_claim_are_dropped) {
  semaphore_taker t;
  const std::string own = t.own_lease("0000000001");
  t.claim->cancel();
  EXPECT_EQ(t.requests(), "sync list list");
  t.claim.reset();
  for (int i = 0; i < 3; ++i) t.answer(5, error::no_node);
  t.answer(6);
  t.answer(6, layout_fixture::children({own}));
  t.answer(6, layout_fixture::children({}));
  EXPECT_EQ(t.requests(), "");

  semaphore_holder checking;
  checking.claim->check_waiters();
  EXPECT_EQ(checking.requests(), "list");
  checking.answer(6, error::no_node);
  EXPECT_EQ(checking.requests(), "exists");
  checking.claim.reset();
  checking.answer(7, layout_fixture::stat(7));
}

// The permit was taken, so it enters the queue.
struct semaphore_queuer : semaphore_taker {
  semaphore_queuer() {
    answer(5, created(own_name("0000000002")));
    answer(5, children({"_c_other-lease-0000000001", own_lease("0000000002")}));
    answer(5, error::no_node);
    EXPECT_EQ(requests(), "delete");
    answer(6);
    EXPECT_EQ(requests(), "create list");
    queue_node = node_name_of(own_name("0000000002"));
    answer(7, created(own_name("0000000002")));
  }
  std::string queue_node;
};

TEST(zookeeper_semaphore_layout, a_claim_that_cannot_list_the_queue_leaves_it) {
  semaphore_queuer t;
  t.answer(7, error::no_auth);
  EXPECT_EQ(t.told.take(), "refused");
  EXPECT_EQ(t.requests(), "delete");
  EXPECT_NE(t.last_request.find("/x/locks/" + t.queue_node), std::string::npos);
}

TEST(zookeeper_semaphore_layout, a_claim_whose_node_is_no_longer_in_the_queue_queues_again) {
  semaphore_queuer t;
  t.answer(7, layout_fixture::children({"_c_a-lock-0000000001"}));
  EXPECT_EQ(t.told.take(), "");
  EXPECT_EQ(t.requests(), "create list");
}

// A negative sequence is younger, and another client may take its node for the first.
TEST(zookeeper_semaphore_layout, a_claim_in_the_queue_beside_a_negative_sequence_is_refused) {
  semaphore_queuer t;
  t.answer(7, layout_fixture::children({t.queue_node, "_c_a-lock--2147483648"}));
  EXPECT_EQ(t.requests(), "delete");
  EXPECT_NE(t.last_request.find("/x/locks/" + t.queue_node), std::string::npos);
  t.answer(8);
  EXPECT_EQ(t.told.take(), "refused");
  EXPECT_EQ(t.told.why.code, errc::exhausted);
}

TEST(zookeeper_semaphore_layout, a_claim_in_the_queue_waits_for_the_one_before_it) {
  const std::string before = "_c_a-lock-0000000001";
  semaphore_queuer t, late;
  for (semaphore_queuer* each : {&t, &late}) {
    each->answer(7, layout_fixture::children({before, each->queue_node}));
    EXPECT_EQ(each->requests(), "watch");
  }
  t.answer(7, layout_fixture::data(1));
  EXPECT_EQ(t.requests(), "");
  t.give(event(event_kind::deleted, "/x/locks/" + before));
  EXPECT_EQ(t.requests(), "list");
  late.answer(8, error::no_node);  // it has ended before it was watched
  EXPECT_EQ(late.requests(), "list");
  late.answer(8, layout_fixture::children({late.queue_node}));
  EXPECT_EQ(late.requests(), "create list");
}

TEST(zookeeper_semaphore_layout, a_claim_that_gives_up_in_the_queue_waits_for_the_end_of_its_node) {
  semaphore_queuer t;
  t.answer(7, layout_fixture::children({"_c_a-lock-0000000001", t.queue_node}));
  EXPECT_EQ(t.requests(), "watch");
  t.answer(7, layout_fixture::data(1));
  t.claim->cancel();
  EXPECT_EQ(t.requests(), "delete");
  EXPECT_EQ(t.told.take(), "");
  t.answer(8);
  EXPECT_EQ(t.told.take(), "ended");
}

TEST(zookeeper_semaphore_layout, a_first_in_the_queue_whose_lease_is_removed_queues_again) {
  semaphore_queuer t;
  t.answer(7, layout_fixture::children({t.queue_node}));
  EXPECT_EQ(t.requests(), "create list");
  const std::string own = t.own_lease("0000000003"), other = "_c_other-lease-0000000001";
  t.answer(8, layout_fixture::created(t.own_name("0000000003")));
  t.answer(8, layout_fixture::children({other, own}));
  t.give(event(event_kind::children, "/x/leases"));
  EXPECT_EQ(t.requests(), "list");
  t.answer(9, layout_fixture::children({other}));
  EXPECT_EQ(t.requests(), "delete delete") << "its lease, and its place in the queue";
}

TEST(zookeeper_semaphore_layout, a_holder_is_notified_of_claims_in_the_queue) {
  semaphore_holder wanted, unwanted, without_queue, with_new_queue;
  for (semaphore_holder* t : {&wanted, &unwanted, &without_queue, &with_new_queue}) {
    t->claim->check_waiters();
    EXPECT_EQ(t->requests(), "list");
  }
  wanted.answer(6, layout_fixture::children({"_c_a-lock-0000000001"}));
  EXPECT_EQ(wanted.told.take(), "wanted");
  unwanted.answer(6, layout_fixture::children({}));
  EXPECT_EQ(unwanted.told.take(), "");
  EXPECT_EQ(unwanted.requests(), "");
  for (semaphore_holder* t : {&without_queue, &with_new_queue}) {
    t->answer(6, error::no_node);
    EXPECT_EQ(t->requests(), "exists") << "its creation is an event";
  }
  without_queue.answer(6, error::no_node);
  EXPECT_EQ(without_queue.requests(), "");
  with_new_queue.answer(7, layout_fixture::stat(7));
  EXPECT_EQ(with_new_queue.requests(), "list");
  for (semaphore_holder* t : {&unwanted, &without_queue}) EXPECT_EQ(t->told.take(), "");
}

TEST(zookeeper_semaphore_layout, a_release_finds_out_whether_its_lease_was_still_there) {
  semaphore_holder t, late;
  for (semaphore_holder* each : {&t, &late}) {
    each->claim->release(nullptr);
    EXPECT_EQ(each->requests(), "delete");
  }
  t.answer(6);
  EXPECT_EQ(t.told.take(), "ended");
  EXPECT_FALSE(t.told.why.code);
  late.answer(6, error::no_node);
  EXPECT_EQ(late.told.take(), "ended");
  EXPECT_EQ(late.told.why.code, errc::not_held);
}

struct written_version final : zookeeper::version_handler {
  void on_result(std::int32_t) override {}
  void on_failed(base::failure f) override { why = std::move(f); }
  base::failure why;
};

TEST(zookeeper_semaphore_layout, a_write_checks_the_leases_of_its_holder) {
  semaphore_holder t;
  auto* const nodes = t.layout().find<zookeeper::held_nodes>();
  ASSERT_TRUE(nodes);
  written_version of_holder, of_other;
  nodes->write({"x", t.claim->owner(), "/r", "v", 3}, of_holder);
  EXPECT_EQ(t.requests(), "multi");
  EXPECT_NE(t.last_request.find(layout_fixture::node(t.own)), std::string::npos);
  nodes->write({"x", "_c_of-another", "/r", "v", 3}, of_other);
  EXPECT_EQ(t.requests(), "") << "the leases of this holder prove nothing for another";
  EXPECT_EQ(of_other.why.code, errc::lost);
  t.answer(9, error::marshalling);
}

TEST(zookeeper_semaphore_layout, holders_are_shown_with_their_permits_and_the_waiters) {
  shown_holders to;
  layout_fixture t("layout=curator-semaphore");
  t.layout().holders("job", to);
  EXPECT_EQ(t.requests(), "sync list list");
  t.answer(5);
  t.answer(5, layout_fixture::children({"_c_b-lock-0000000001", "_c_c-lock-0000000002"}));
  t.answer(5, layout_fixture::children({"_c_a-lease-0000000001", "_c_a-lease-0000000002"}));
  EXPECT_EQ(t.requests(), "watch");
  t.answer(5, layout_fixture::data(9, "web7 12"));
  ASSERT_TRUE(to.result && to.result->size() == 1);
  const holder& h = to.result->front();
  EXPECT_EQ(h.owner + ' ' + h.host, "_c_a web7");
  EXPECT_EQ(h.permits, 2u);
  EXPECT_EQ(h.waiting, 2);

  shown_holders of_unused;
  t.layout().holders("unused", of_unused);
  EXPECT_EQ(t.requests(), "sync list list");
  t.answer(5);
  for (int i = 0; i < 2; ++i) t.answer(5, error::no_node);
  ASSERT_TRUE(of_unused.result);
  EXPECT_TRUE(of_unused.result->empty());
}

}  // namespace
}  // namespace holdfast::zookeeper_unit
