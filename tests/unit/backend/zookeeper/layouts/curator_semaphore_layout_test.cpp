// A semaphore's claim, and the leases that the server lists.
#include <gtest/gtest.h>

#include <string>

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

}  // namespace
}  // namespace holdfast::zookeeper_unit
