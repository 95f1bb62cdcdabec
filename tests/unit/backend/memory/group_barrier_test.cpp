#include "tests/unit/backend/memory/contenders.hpp"

namespace holdfast::memory {
namespace {

// A client with several claims.
struct gatherer {
  gatherer(std::shared_ptr<server> s, base::environment& e, std::vector<std::string> names)
      : env(e),
        heard(names.size()),
        store(std::make_unique<backend>(std::move(s), e, usual)),
        together(seam::lock_group::of(static_cast<std::uint32_t>(names.size()))) {
    for (std::size_t i = 0; i < names.size(); ++i)
      claims.push_back(store->open(names[i], heard[i]));
  }
  ~gatherer() {
    store->close(env.now());
    claims.clear();
  }
  void ask(std::size_t i, seam::acquire_request how = {.ttl = 10s}) {
    how.one_attempt = true;
    how.group = together;
    claims[i]->acquire(how);
  }
  std::string ask_all() {
    for (std::size_t i = 0; i < claims.size(); ++i) ask(i);
    return news();
  }
  std::string let_go() {
    for (const auto& c : claims) c->release(nullptr);
    return news();
  }
  std::string news() {
    std::string all;
    for (note_taker& one : heard) all += one.news();
    return all;
  }

  base::environment& env;
  std::vector<note_taker> heard;
  std::unique_ptr<backend> store;
  const seam::lock_group together;
  std::vector<std::unique_ptr<seam::claim>> claims;
};

struct memory_gathering : memory_case {
  gatherer all{s, env, {"a", "b", "c"}};
  caller other{s, env, "b"};
};

TEST_F(memory_gathering, all_are_granted_when_all_have_come) {
  EXPECT_TRUE(all.store->can_lock_all({}));
  all.ask(0);
  all.ask(2);
  EXPECT_EQ(all.news(), "");
  EXPECT_EQ(inspect(other).size(), 0u);
  all.ask(1);
  EXPECT_EQ(all.news(), "ggg");
  EXPECT_EQ(inspect(other).size(), 3u);
  EXPECT_EQ(all.let_go(), "eee");
}

TEST_F(memory_gathering, none_is_granted_when_one_is_held) {
  other.acquire();
  EXPECT_EQ(all.ask_all(), "rrr");
  EXPECT_EQ(all.heard[0].failure.code, errc::timed_out);
  EXPECT_EQ(inspect(other).size(), 1u);
  other.release();
  EXPECT_EQ(all.ask_all(), "ggg");
  all.let_go();
}

TEST_F(memory_gathering, a_mismatch_of_one_is_reported_for_it_and_the_others_are_busy) {
  other.ask(permits(1, 2));
  EXPECT_EQ(all.ask_all(), "rrr");
  EXPECT_EQ(all.heard[0].failure.code, errc::timed_out);
  EXPECT_EQ(all.heard[1].failure.code, errc::mismatch);
  EXPECT_EQ(all.heard[2].failure.code, errc::timed_out);
  other.let_go();
}

TEST_F(memory_gathering, shares_and_permits_can_be_among_them) {
  other.ask(share());
  all.ask(0, permits(2, 2));
  all.ask(1, share());
  all.ask(2);
  EXPECT_EQ(all.news(), "ggg");
  EXPECT_EQ(inspect(other).size(), 4u);
  all.let_go();
  other.let_go();
}

TEST_F(memory_gathering, a_lost_request_is_repeated_for_all) {
  faults([](fault_plan& w) { w.requests_to_lose = 2; });
  EXPECT_EQ(all.ask_all(), "");
  env.advance(2s);
  EXPECT_EQ(all.news(), "ggg");
  EXPECT_EQ(all.let_go(), "eee");
}

TEST_F(memory_gathering, a_lost_reply_changes_nothing) {
  faults([](fault_plan& w) { w.replies_to_lose = 1; });
  EXPECT_EQ(all.ask_all(), "");
  other.attempt();
  EXPECT_EQ(other.heard.news(), "r");
  env.advance(1s);
  EXPECT_EQ(all.news(), "ggg");
  EXPECT_EQ(all.let_go(), "eee");
}

TEST_F(memory_gathering, one_that_was_broken_before_the_answer_takes_back_all) {
  faults([](fault_plan& w) { w.replies_to_lose = 1; });
  EXPECT_EQ(all.ask_all(), "");
  judgement j;
  other.store->break_lock("b", inspect(other).at(1).owner, j);
  ASSERT_TRUE(j.was);
  other.attempt();
  EXPECT_EQ(other.heard.news(), "g");
  env.advance(1s);
  EXPECT_EQ(all.news(), "rrr");
  EXPECT_EQ(inspect(other).size(), 1u);
  other.release();
}

TEST_F(memory_gathering, a_member_that_leaves_before_all_came_ends_it_and_nothing_is_left) {
  all.ask(0);
  all.ask(1);
  all.claims[0]->cancel();
  all.claims[1]->cancel();
  EXPECT_EQ(all.news(), "ee");
  EXPECT_EQ(all.ask_all(), "ggg");
  all.let_go();
}

TEST_F(memory_gathering, members_that_leave_while_it_is_under_way_hold_nothing_afterwards) {
  latency(100ms);
  all.ask_all();
  env.advance(50ms);
  for (const auto& c : all.claims) c->cancel();
  env.advance(1s);
  EXPECT_EQ(all.news(), "eee");
  latency(0s);
  EXPECT_EQ(inspect(other).size(), 0u);
  EXPECT_EQ(all.ask_all(), "ggg");
  all.let_go();
}

TEST_F(memory_gathering, through_latency_the_deadline_counts_from_the_send) {
  latency(1s);
  const auto sent = env.now();
  all.ask_all();
  env.advance(2s);
  EXPECT_EQ(all.news(), "ggg");
  for (const note_taker& one : all.heard) EXPECT_LE(one.deadline, sent + 10s);
  for (const auto& c : all.claims) c->release(nullptr);
  env.advance(2s);
  EXPECT_EQ(all.news(), "eee");
}

TEST_F(memory_gathering, in_an_outage_all_are_unavailable_and_nothing_is_left) {
  outage(true);
  all.ask_all();
  env.advance(5s);
  EXPECT_EQ(all.news(), "rrr");
  for (const note_taker& one : all.heard) EXPECT_EQ(one.failure.code, errc::unavailable);
  outage(false);
  env.advance(1min);
  EXPECT_EQ(inspect(other).size(), 0u);
}

TEST_F(memory_gathering, a_close_ends_it) {
  all.ask(0);
  all.store->close(env.now());
  EXPECT_EQ(all.news(), "r");
  EXPECT_EQ(all.heard[0].failure.code, errc::closed);
}

}  // namespace
}  // namespace holdfast::memory
