// What an operator sees of locks on two shards while their list changes.
#include "backend/redis/shards/sharded_store.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/unit/backend/redis/shards/two_shards.hpp"

namespace holdfast::redis {
namespace {

// Answers with what the test has put into it, or fails.
class listed_shard final : public bare_shard, private guarded_values {
 public:
  std::unique_ptr<seam::claim> open(std::string_view, seam::claim_sink&) override {
    ++claims;
    return {};
  }
  bool can_lock_all(std::span<const std::string_view>) const override { return locks_all; }
  void inspect(std::string_view, seam::holders_handler& to) override { show(to); }
  void holders(std::string_view, seam::holders_handler& to) override { show(to); }
  void break_lock(std::string_view, std::string_view, seam::decision_handler& to) override {
    ++questions;
    fault.code ? to.on_failed(fault) : to.on_result(breaks);
  }

  std::vector<holder> shown;
  base::failure fault;
  bool breaks = false, locks_all = true, has_values = true;
  int questions = 0, claims = 0, writes = 0;

 private:
  void* find_extension(const std::type_info& wanted) noexcept override {
    if (wanted == typeid(guarded_values))
      return has_values ? offer<guarded_values>(*this, wanted) : nullptr;
    return offer<grant_counters>(*this, wanted);
  }
  void write(const guarded_write&, seam::decision_handler& to) override {
    ++writes;
    to.on_result(true);
  }
  void show(seam::holders_handler& to) {
    ++questions;
    fault.code ? to.on_failed(fault) : to.on_result(shown);
  }
  void raise(std::string_view, std::int64_t, seam::decision_handler& to) override {
    to.on_result(true);
  }
};

template <class T>
struct kept_answer final : seam::result_handler<T> {
  void on_result(T r) override {
    ++answers;
    result = std::move(r);
  }
  void on_failed(base::failure f) override {
    ++answers;
    has_failed = true;
    why = std::move(f);
  }

  int answers = 0;
  bool has_failed = false;
  T result{};
  base::failure why;
};

holder a_holder(const std::string& name, const std::string& id, std::int64_t token, int waiting) {
  holder out;
  out.name = name;
  out.owner = id;
  out.token = token;
  out.waiting = waiting;
  return out;
}

// Shard b is added: a lock stays at a, or moves from a to b.
class redis_sharded_store : public testing::Test {
 protected:
  std::string lock_at(std::size_t shard, int skipped = 0) const {
    for (int i = 0;; ++i) {
      const std::string name = "lock" + std::to_string(i);
      if (lists.shard(name) == shard && skipped-- == 0) return name;
    }
  }
  // "NAME of OWNER, token, waiting": each holder.
  static std::string text_of(const std::vector<holder>& all) {
    std::string out;
    for (const holder& h : all)
      out += h.name + " of " + h.owner + ", " + std::to_string(h.token) + ", " +
             std::to_string(h.waiting) + "; ";
    return out;
  }
  std::string inspected() {
    kept_answer<std::vector<holder>> to;
    store.inspect("", to);
    EXPECT_EQ(to.answers, 1);
    return to.has_failed ? to.why.text : text_of(to.result);
  }
  std::string holders_of(const std::string& name) {
    kept_answer<std::vector<holder>> to;
    store.holders(name, to);
    EXPECT_EQ(to.answers, 1);
    return to.has_failed ? to.why.text : text_of(to.result);
  }
  std::string broken(const std::string& name) {
    kept_answer<bool> to;
    store.break_lock(name, "seen", to);
    EXPECT_EQ(to.answers, 1);
    return to.has_failed ? to.why.text : to.result ? "yes" : "no";
  }

  void write(std::string_view key) {
    kept_answer<bool> to;
    store.find<guarded_values>()->write({"ordered", key, "1", "me", "7"}, to);
    EXPECT_TRUE(to.result);
  }

  listed_shard a, b;
  shard_lists lists{.present = {{"a", 1}, {"b", 1}},
                    .former = {{"a", 1}, {"b", 0}},
                    .is_changing = true};
  moving_claims moving;
  sharded_store store{lists, {{&a, &a}, {&b, &b}}, moving};
  const std::string stays = lock_at(0), moves = lock_at(1);
};

TEST_F(redis_sharded_store, a_lock_that_moves_is_shown_once_without_a_token_and_with_all_waiters) {
  a.shown = {a_holder(moves, "at a", 7, 5)};
  b.shown = {a_holder(moves, "at b", 9, 1)};
  EXPECT_EQ(inspected(), moves + " of at b, 0, 5; ");
  a.shown[0].waiting = 1;
  b.shown[0].waiting = 5;
  EXPECT_EQ(inspected(), moves + " of at b, 0, 5; ");
}

TEST_F(redis_sharded_store, a_lock_that_only_its_former_shard_has_is_shown_too) {
  a.shown = {a_holder(moves, "at a", 7, 2)};
  EXPECT_EQ(inspected(), moves + " of at a, 0, 2; ");
}

TEST_F(redis_sharded_store, a_lock_that_stays_keeps_its_token_and_holders_are_sorted) {
  a.shown = {a_holder(stays, "o2", 7, 0), a_holder(stays, "o1", 6, 0)};
  EXPECT_EQ(inspected(), stays + " of o1, 6, 0; " + stays + " of o2, 7, 0; ");
  b.shown = {a_holder(moves, "o3", 9, 0)};
  const std::string of_stays = stays + " of o1, 6, 0; " + stays + " of o2, 7, 0; ",
                    of_moves = moves + " of o3, 0, 0; ";
  EXPECT_EQ(inspected(), stays < moves ? of_stays + of_moves : of_moves + of_stays);
}

TEST_F(redis_sharded_store, a_list_fails_where_one_shard_does_not_answer) {
  a.shown = {a_holder(stays, "o1", 6, 0)};
  b.fault = {errc::unavailable, "no answer"};
  EXPECT_EQ(inspected(), "no answer");
  EXPECT_EQ(holders_of(moves), "no answer");
}

TEST_F(redis_sharded_store, the_holders_of_one_lock_are_requested_where_it_may_be) {
  a.shown = {a_holder(moves, "at a", 7, 5)};
  b.shown = {a_holder(moves, "at b", 9, 1)};
  EXPECT_EQ(holders_of(moves), moves + " of at b, 0, 5; ");
  EXPECT_EQ(a.questions + b.questions, 2);
  a.shown = {a_holder(stays, "at a", 7, 5)};
  EXPECT_EQ(holders_of(stays), stays + " of at a, 7, 5; ");
  EXPECT_EQ(b.questions, 1);
}

TEST_F(redis_sharded_store, a_lock_that_moves_is_broken_at_both_shards) {
  EXPECT_EQ(broken(moves), "no");
  EXPECT_EQ(a.questions + b.questions, 2);
  a.breaks = true;
  EXPECT_EQ(broken(moves), "yes");
  a.breaks = false;
  b.breaks = true;
  EXPECT_EQ(broken(moves), "yes");
  a.fault = {errc::unavailable, "no answer"};
  EXPECT_EQ(broken(moves), "yes") << "one of them has removed it";
  b.breaks = false;
  EXPECT_EQ(broken(moves), "no answer");
}

TEST_F(redis_sharded_store, a_lock_that_stays_is_broken_at_its_own_shard) {
  a.breaks = true;
  EXPECT_EQ(broken(stays), "yes");
  EXPECT_EQ(b.questions, 0);
}

TEST_F(redis_sharded_store, locks_are_acquired_together_at_one_shard_that_they_do_not_leave) {
  const std::string other = lock_at(0, 1);
  const std::string_view together[] = {stays, other}, apart[] = {stays, moves},
                         moving_ones[] = {moves};
  EXPECT_TRUE(store.can_lock_all(together));
  EXPECT_FALSE(store.can_lock_all(apart));
  EXPECT_FALSE(store.can_lock_all(moving_ones));
  lists.is_changing = false;
  EXPECT_TRUE(store.can_lock_all(moving_ones));
  EXPECT_FALSE(store.can_lock_all(apart));
  a.locks_all = false;
  EXPECT_FALSE(store.can_lock_all(together));
}

TEST_F(redis_sharded_store, while_the_list_stays_each_lock_is_shown_with_its_token) {
  lists.is_changing = false;
  a.shown = {a_holder(stays, "o1", 6, 0)};
  b.shown = {a_holder(moves, "o3", 9, 0)};
  const std::string text = inspected();
  EXPECT_NE(text.find(stays + " of o1, 6, 0; "), text.npos) << text;
  EXPECT_NE(text.find(moves + " of o3, 9, 0; "), text.npos) << text;
  a.questions = b.questions = 0;
  EXPECT_EQ(broken(moves), "no");
  EXPECT_EQ(a.questions, 0);
}

TEST_F(redis_sharded_store, a_lock_that_moves_is_opened_at_both_shards_and_any_other_at_its_own) {
  recorded_sink sink;
  (void)store.open(stays, sink);
  EXPECT_EQ(a.claims, 1);
  EXPECT_EQ(b.claims, 0);
  (void)store.open(moves, sink);
  EXPECT_EQ(a.claims, 2);
  EXPECT_EQ(b.claims, 1);
}

// Clients with either list use the former shard.
TEST_F(redis_sharded_store, a_guarded_value_is_written_at_its_former_shard_until_the_change_ends) {
  write(moves);
  EXPECT_EQ(a.writes, 1);
  EXPECT_EQ(b.writes, 0);
  lists.is_changing = false;
  write(moves);
  EXPECT_EQ(b.writes, 1);
  write(stays);
  EXPECT_EQ(a.writes, 2);
}

TEST_F(redis_sharded_store, guarded_values_are_offered_where_the_shards_offer_them) {
  EXPECT_NE(store.find<guarded_values>(), nullptr);
  a.has_values = b.has_values = false;
  EXPECT_EQ(store.find<guarded_values>(), nullptr);
}

}  // namespace
}  // namespace holdfast::redis
