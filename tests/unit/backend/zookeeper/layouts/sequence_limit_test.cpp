// Claims whose nodes have sequences that the server does not keep in order.
#include "tests/unit/backend/zookeeper/layouts/layout_fixture.hpp"

namespace holdfast::zookeeper_unit {
namespace {

// The only node of the lock, whose sequence another node may have too.
TEST(zookeeper_sequence_limit, a_claim_near_the_limit_of_its_sequence_is_refused_once_removed) {
  for (const char* sequence : {"2147473647", "2147483647", "-2147483648"}) {
    layout_fixture t;
    t.acquire();
    EXPECT_EQ(t.requests(), "create exists");
    const std::string own = t.own_name(sequence);
    t.answer(5, layout_fixture::created(own));
    t.answer(5, layout_fixture::stat(1, 1, 5));
    EXPECT_EQ(t.told.take(), "") << sequence;
    EXPECT_EQ(t.requests(), "delete") << sequence;
    EXPECT_NE(t.last_request.find(own), std::string::npos) << sequence;
    t.answer(6);
    EXPECT_EQ(t.told.take(), "refused") << sequence;
  }
}

TEST(zookeeper_sequence_limit, a_claim_that_is_found_again_near_the_limit_is_refused) {
  layout_fixture t;
  t.acquire();
  EXPECT_EQ(t.requests(), "create exists");
  t.move();
  EXPECT_EQ(t.sent_again(), "sync list");
  t.answer(10);
  t.answer(10, layout_fixture::children({t.own_name("2147483647")}));
  EXPECT_EQ(t.requests(), "delete");
  t.answer(11);
  EXPECT_EQ(t.told.take(), "refused");
}

// A negative sequence is younger, and another client may take its node for the first.
TEST(zookeeper_sequence_limit, a_claim_beside_a_negative_sequence_is_refused) {
  layout_fixture t;
  t.acquire();
  EXPECT_EQ(t.requests(), "create exists");
  const std::string own = t.own_name("0000000002");
  t.answer(5, layout_fixture::created(own));
  t.answer(5, layout_fixture::stat(1, 2, 5));
  EXPECT_EQ(t.requests(), "list");
  t.answer(5, layout_fixture::children({own, "_c_a-lock--2147483648"}));
  EXPECT_EQ(t.requests(), "delete");
  t.answer(6);
  EXPECT_EQ(t.told.take(), "refused");
}

TEST(zookeeper_sequence_limit, a_node_of_another_client_at_the_limit_comes_after_the_own_one) {
  layout_fixture t;
  t.acquire();
  EXPECT_EQ(t.requests(), "create exists");
  const std::string own = t.own_name("2147473646");
  t.answer(5, layout_fixture::created(own));
  t.answer(5, layout_fixture::stat(1, 2, 5));
  EXPECT_EQ(t.requests(), "list");
  t.answer(5, layout_fixture::children({own, "_c_a-lock-2147483647"}));
  EXPECT_EQ(t.told.take(), "granted 5");
}

TEST(zookeeper_sequence_limit, a_refusal_says_which_limit_was_reached) {
  constexpr std::int64_t first_beyond_a_token = std::int64_t{1} << 53;
  const struct {
    const char* sequence;
    std::int64_t transaction;
    const char* text;
  } cases[] = {{"2147483647", 5, "the sequence of /x has come close to its limit"},
               {"0000000001", first_beyond_a_token, "the ensemble's epoch is above 2^21"}};
  for (const auto& c : cases) {
    layout_fixture t;
    t.acquire();
    EXPECT_EQ(t.requests(), "create exists");
    t.answer(c.transaction, layout_fixture::created(t.own_name(c.sequence)));
    t.answer(c.transaction, layout_fixture::stat(1, 1, c.transaction));
    EXPECT_EQ(t.requests(), "delete");
    t.answer(c.transaction);
    EXPECT_EQ(t.told.take(), "refused");
    EXPECT_EQ(t.told.why.code, errc::exhausted);
    EXPECT_TRUE(t.told.why.text.starts_with(c.text)) << t.told.why.text;
  }
}

}  // namespace
}  // namespace holdfast::zookeeper_unit
