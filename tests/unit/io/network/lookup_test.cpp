// The addresses of a name while the name service is out.
#include "io/network/lookup.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <future>

#include "testkit/seccomp.hpp"
#include "tests/unit/in_a_child.hpp"

namespace holdfast::io {
namespace {

std::atomic<int> answers{0};          // how many look-ups are answered; then they fail
std::atomic<unsigned short> port{7};  // in those answers

found scripted(const std::string&, const std::string&) {
  if (answers-- <= 0) return {{}, "no answer"};
  return {endpoints_of({.host = "127.0.0.7", .port = port}), {}};
}

found looked_up(const std::string& host) {
  auto out = std::make_shared<std::promise<found>>();
  auto answer = out->get_future();
  look_up(
      {.host = host, .port = 7}, [out](found f) { out->set_value(std::move(f)); }, scripted);
  return answer.get();
}

TEST(looking_up, a_name_stands_for_what_it_did_while_nobody_can_say) {
  answers = 0;
  EXPECT_EQ(looked_up("one").trouble, "no answer");
  answers = 1;
  EXPECT_EQ(looked_up("one").endpoints.size(), 1u);
  const found later = looked_up("one");
  EXPECT_EQ(later.endpoints.size(), 1u);
  EXPECT_EQ(later.trouble, "");
  EXPECT_EQ(looked_up("two").trouble, "no answer");
}

TEST(looking_up, a_known_name_that_has_moved_stands_for_its_new_address) {
  answers = 2;
  port = 7;
  ASSERT_EQ(looked_up("three").endpoints.size(), 1u);
  port = 8;
  EXPECT_TRUE(looked_up("three").endpoints == endpoints_of({.host = "127.0.0.7", .port = 8}));
}

TEST(looking_up, a_name_fails_with_a_reason_where_no_thread_can_be_started) {
#ifdef __SANITIZE_THREAD__  // cannot start a thread in the child of a process with threads
  GTEST_SKIP();
#endif
  EXPECT_TRUE(unit_tests::is_true_in_a_child([] {
    if (!testkit::deny_threads()) return true;
    return looked_up("four").trouble.starts_with("no thread can be started");
  }));
}

}  // namespace
}  // namespace holdfast::io
