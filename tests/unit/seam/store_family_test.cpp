// The lock stores of one backend: which one keeps a kind of lock, and one answer of all of them.
#include "seam/store_family.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::seam {
namespace {

// A store whose questions the test answers.
class asked_store final : public lock_store {
 public:
  explicit asked_store(unsigned modes) : can_{.modes = modes} {}

  const capabilities& can() const noexcept override { return can_; }
  std::unique_ptr<claim> open(std::string_view, claim_sink&) override { return nullptr; }
  void inspect(std::string_view prefix, holders_handler& to) override {
    asked += "inspect " + std::string(prefix);
    list = &to;
  }
  void holders(std::string_view name, holders_handler& to) override {
    asked += "holders " + std::string(name);
    list = &to;
  }
  void break_lock(std::string_view name, std::string_view seen, decision_handler& to) override {
    asked += "break " + std::string(name) + ' ' + std::string(seen);
    decision = &to;
  }

  std::string asked;
  holders_handler* list = nullptr;
  decision_handler* decision = nullptr;

 private:
  const capabilities can_;
};

template <class T>
struct family_answer final : result_handler<T> {
  void on_result(T r) override { result = std::move(r); }
  void on_failed(failure f) override { why = std::move(f); }

  std::optional<T> result;
  failure why;
};

class store_families : public testing::Test {
 protected:
  store_families() {
    both.add(one);
    both.add(two);
  }
  static std::vector<holder> held(const std::string& name) {
    holder h;
    h.name = name;
    return {h};
  }

  asked_store one{bit_of(lock_mode::exclusive)};
  asked_store two{modes_of(lock_kind::shared_mutex) | modes_of(lock_kind::semaphore)};
  store_family both{"layout x", ": use layout y"};
};

TEST_F(store_families, each_kind_of_lock_is_kept_by_the_first_store_that_has_its_modes) {
  EXPECT_EQ(both.of(lock_kind::mutex), &one);
  EXPECT_EQ(both.of(lock_kind::shared_mutex), &two);
  EXPECT_EQ(both.of(lock_kind::semaphore), &two);
  EXPECT_EQ(&both.first(), &one);
  EXPECT_EQ(both.all().size(), 2u);
  store_family single("layout x", ": use layout y");
  single.add(one);
  EXPECT_EQ(single.of(lock_kind::semaphore), nullptr);
  EXPECT_EQ(single.lack_of(lock_kind::semaphore), "layout x has no semaphores: use layout y");
  EXPECT_EQ(store_family().lack_of(lock_kind::mutex), "this backend has no mutexes");
}

TEST_F(store_families, one_store_answers_by_itself) {
  store_family single;
  single.add(one);
  family_answer<std::vector<holder>> to;
  single.holders("job", to);
  EXPECT_EQ(one.list, &to);
}

TEST_F(store_families, holders_of_all_stores_are_one_list) {
  family_answer<std::vector<holder>> to;
  both.inspect("jo", to);
  EXPECT_EQ(one.asked + ", " + two.asked, "inspect jo, inspect jo");
  two.list->on_result(held("b"));
  EXPECT_FALSE(to.result);
  one.list->on_result(held("a"));
  ASSERT_TRUE(to.result);
  ASSERT_EQ(to.result->size(), 2u);
  EXPECT_EQ(to.result->at(0).name + to.result->at(1).name, "ba");
}

TEST_F(store_families, holders_of_a_store_that_failed_are_a_failure) {
  family_answer<std::vector<holder>> to;
  both.holders("job", to);
  one.list->on_result(held("a"));
  two.list->on_failed({errc::unavailable, "it is away"});
  EXPECT_FALSE(to.result);
  EXPECT_EQ(to.why.text, "it is away");
}

TEST_F(store_families, another_kind_of_lock_in_one_store_is_no_failure) {
  family_answer<std::vector<holder>> to;
  both.holders("job", to);
  one.list->on_failed({errc::mismatch, "it is another kind"});
  two.list->on_result(held("a"));
  ASSERT_TRUE(to.result);
  EXPECT_EQ(to.result->size(), 1u);
}

TEST_F(store_families, another_kind_of_lock_in_each_store_is_the_first_failure) {
  family_answer<std::vector<holder>> to;
  both.holders("job", to);
  one.list->on_failed({errc::mismatch, "the first"});
  two.list->on_failed({errc::mismatch, "the second"});
  EXPECT_FALSE(to.result);
  EXPECT_EQ(to.why.text, "the first");
}

TEST_F(store_families, a_failure_counts_more_than_another_kind_of_lock) {
  family_answer<std::vector<holder>> to;
  both.holders("job", to);
  one.list->on_failed({errc::mismatch, "it is another kind"});
  two.list->on_failed({errc::unavailable, "it is away"});
  EXPECT_EQ(to.why.code, errc::unavailable);
}

TEST_F(store_families, a_lock_is_broken_where_its_holder_is) {
  for (const bool is_first : {true, false}) {
    family_answer<bool> to;
    both.break_lock("job", "me", to);
    one.decision->on_result(is_first);
    two.decision->on_result(!is_first);
    EXPECT_EQ(to.result, true);
  }
  EXPECT_TRUE(one.asked.starts_with("break job me")) << one.asked;
  family_answer<bool> neither;
  both.break_lock("job", "me", neither);
  one.decision->on_result(false);
  two.decision->on_result(false);
  EXPECT_EQ(neither.result, false);
}

TEST_F(store_families, a_lock_that_was_broken_is_so_whatever_another_store_answers) {
  family_answer<bool> broken, unknown;
  both.break_lock("job", "me", broken);
  one.decision->on_failed({errc::unavailable, "it is away"});
  two.decision->on_result(true);
  EXPECT_EQ(broken.result, true);
  both.break_lock("job", "me", unknown);
  one.decision->on_failed({errc::unavailable, "it is away"});
  two.decision->on_result(false);
  EXPECT_FALSE(unknown.result);
  EXPECT_EQ(unknown.why.text, "it is away");
}

}  // namespace
}  // namespace holdfast::seam
