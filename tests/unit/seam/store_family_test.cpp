#include "seam/store_family.hpp"

#include <gtest/gtest.h>

#include <optional>

namespace holdfast::seam {
namespace {

// Answers as a test says; null: not yet.
class answering_store final : public lock_store {
 public:
  explicit answering_store(unsigned modes) { can_.modes = modes; }
  const capabilities& can() const noexcept override { return can_; }
  std::unique_ptr<claim> open(std::string_view, claim_sink&) override { return nullptr; }
  void inspect(std::string_view prefix, holders_handler& h) override {
    asked = "inspect " + std::string(prefix);
    answer(h);
  }
  void holders(std::string_view name, holders_handler& h) override {
    asked = "holders " + std::string(name);
    answer(h);
  }
  void break_lock(std::string_view name, std::string_view seen, decision_handler& h) override {
    asked = "break " + std::string(name) + ' ' + std::string(seen);
    if (why.code) return h.on_failed(why);
    h.on_result(breaks);
  }

  std::string asked;
  failure why;
  bool breaks = false;
  std::optional<std::string> held;  // the name of what it holds

 private:
  void answer(holders_handler& h) {
    if (why.code) return h.on_failed(why);
    std::vector<holder> found(held ? 1 : 0);
    if (held) found.front().name = *held;
    h.on_result(std::move(found));
  }
  capabilities can_;
};

struct noted_holders final : holders_handler {
  void on_result(std::vector<holder> all) override {
    ++answers;
    for (const holder& h : all) names += h.name;
  }
  void on_failed(failure f) override {
    ++answers;
    why = std::move(f);
  }
  int answers = 0;
  std::string names;
  failure why;
};

struct noted_decision final : decision_handler {
  void on_result(bool yes) override { result = yes; }
  void on_failed(failure f) override { why = std::move(f); }
  std::optional<bool> result;
  failure why;
};

class store_families : public testing::Test {
 protected:
  store_families() {
    all.add(locks);
    all.add(readers);
  }
  noted_holders holders() {
    noted_holders out;
    all.holders("x", out);
    EXPECT_EQ(out.answers, 1);
    return out;
  }
  noted_decision decision() {
    noted_decision out;
    all.break_lock("x", "seen", out);
    return out;
  }

  answering_store locks{bit_of(lock_mode::exclusive)};
  answering_store readers{bit_of(lock_mode::exclusive) | bit_of(lock_mode::shared)};
  store_family all{"layout x", ": use layout y"};
};

TEST_F(store_families, keep_each_kind_in_the_first_store_that_has_its_modes) {
  EXPECT_EQ(all.of(lock_kind::mutex), &locks);
  EXPECT_EQ(all.of(lock_kind::shared_mutex), &readers);
  EXPECT_EQ(all.of(lock_kind::semaphore), nullptr);
  EXPECT_EQ(&all.first(), &locks);
  EXPECT_EQ(all.all().size(), 2u);
  EXPECT_EQ(all.lack_of(lock_kind::semaphore), "layout x has no semaphores: use layout y");
  EXPECT_EQ(all.lack_of(lock_kind::shared_mutex), "layout x has no shared mutexes: use layout y");
  EXPECT_EQ(store_family().lack_of(lock_kind::mutex), "this backend has no mutexes");
}

TEST_F(store_families, have_the_holders_of_all_stores) {
  locks.held = "a";
  readers.held = "b";
  EXPECT_EQ(holders().names, "ab");
  EXPECT_EQ(readers.asked, "holders x");
  noted_holders out;
  all.inspect("pre", out);
  EXPECT_EQ(out.names, "ab");
  EXPECT_EQ(locks.asked, "inspect pre");
}

TEST_F(store_families, fail_with_the_first_failure) {
  locks.held = "a";
  readers.why = {errc::unavailable, "the second"};
  EXPECT_EQ(holders().why.text, "the second");
  locks.why = {errc::refused, "the first"};
  EXPECT_EQ(holders().why.text, "the first");
}

TEST_F(store_families, report_another_kind_of_lock_only_where_each_store_does) {
  locks.why = {errc::mismatch, "a semaphore"};
  readers.held = "b";
  EXPECT_EQ(holders().names, "b");
  EXPECT_FALSE(holders().why.code);
  readers.why = {errc::mismatch, "a lock"};
  EXPECT_EQ(holders().why.text, "a semaphore");
  readers.why = {errc::unavailable, "it is down"};
  EXPECT_EQ(holders().why.text, "it is down");
}

TEST_F(store_families, break_a_lock_in_the_store_that_has_its_holder) {
  EXPECT_EQ(decision().result, false);
  EXPECT_EQ(locks.asked, "break x seen");
  locks.breaks = true;
  EXPECT_EQ(decision().result, true);
  readers.why = {errc::unavailable, "it is down"};
  EXPECT_EQ(decision().result, true) << "it is done";
  locks.breaks = false;
  EXPECT_EQ(decision().why.text, "it is down");
}

TEST_F(store_families, of_one_store_have_its_answer) {
  store_family one;
  one.add(readers);
  noted_decision out;
  readers.breaks = true;
  one.break_lock("x", "seen", out);
  EXPECT_EQ(out.result, true);
}

}  // namespace
}  // namespace holdfast::seam
