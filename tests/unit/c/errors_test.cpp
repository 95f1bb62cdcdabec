// Each error of the C API, and what it leaves in the pointers of its caller.
#include <holdfast/error.hpp>
#include <holdfast/memory.hpp>
#include <holdfast/version.hpp>

#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <thread>

#include "base/log.hpp"
#include "c/report.hpp"
#include "testkit/servers/scratch_folder.hpp"
#include "tests/unit/c/fixture.hpp"
#include "tests/unit/in_a_child.hpp"

namespace holdfast::c_test {
namespace {

std::string open_failure(holdfast_errc expected, const char* url,
                         const holdfast_open_options* options = nullptr) {
  return failure(expected, [&](holdfast_error** e) {
    auto* c = reinterpret_cast<holdfast_client*>(1);
    const auto code = holdfast_client_open(url, options, &c, e);
    EXPECT_EQ(c, nullptr);
    return code;
  });
}

std::string acquire_failure(holdfast_errc expected, const client_handle& c, const char* name,
                            const holdfast_acquire_options* options = nullptr) {
  return failure(expected, [&](holdfast_error** e) {
    auto* l = reinterpret_cast<holdfast_lease*>(1);
    const auto code = holdfast_try_acquire(c.get(), name, options, &l, e);
    EXPECT_EQ(l, nullptr);
    return code;
  });
}

TEST(c_errors, have_the_names_and_groups_of_cpp) {
  for (int i = HOLDFAST_TIMED_OUT; i <= HOLDFAST_NO_QUORUM; ++i) {
    const std::error_code code = static_cast<errc>(i);
    const auto group = static_cast<outcome>(holdfast_errc_group(i));
    EXPECT_EQ(code, group) << i;
    EXPECT_NE(holdfast_errc_name(i), std::string("unknown"));
  }
  EXPECT_STREQ(holdfast_errc_name(HOLDFAST_OK), "ok");
  EXPECT_STREQ(holdfast_errc_name(HOLDFAST_NO_QUORUM), "no_quorum");
  EXPECT_STREQ(holdfast_errc_name(HOLDFAST_BAD_OPTION), "bad_option");
  EXPECT_STREQ(holdfast_errc_name(18), "unknown");
  EXPECT_EQ(holdfast_errc_group(HOLDFAST_OK), HOLDFAST_GROUP_NONE);
  EXPECT_EQ(holdfast_errc_group(18), HOLDFAST_GROUP_NONE);
}

TEST(c_errors, have_one_name_each) {
  const char* const names[] = {"ok",          "timed_out",       "canceled",
                               "lost",        "not_held",        "would_self_deadlock",
                               "unavailable", "outcome_unknown", "refused",
                               "unsupported", "bad_url",         "bad_name",
                               "bad_option",  "mismatch",        "forked",
                               "closed",      "exhausted",       "no_quorum"};
  for (int i = HOLDFAST_OK; i <= HOLDFAST_NO_QUORUM; ++i)
    EXPECT_STREQ(holdfast_errc_name(i), names[i]);
  EXPECT_STREQ(holdfast_errc_name(-1), "unknown");
  EXPECT_EQ(holdfast_errc_group(-1), HOLDFAST_GROUP_NONE);
}

TEST(c_errors, of_open_know_the_members_that_the_caller_knows) {
  const auto opens = [](const holdfast_open_options& o) {
    holdfast_client* c = nullptr;
    const auto code = holdfast_client_open("memory:", &o, &c, nullptr);
    holdfast_client_free(c);
    return code;
  };
  // A wrong ttl that a caller of that size does not have.
  EXPECT_EQ(opens({.size = offsetof(holdfast_open_options, ttl_ms), .ttl_ms = 1}), HOLDFAST_OK);
  EXPECT_EQ(opens({.size = sizeof(std::size_t), .ttl_ms = 1}), HOLDFAST_OK);
  EXPECT_EQ(opens({.size = sizeof(std::size_t) - 1}), HOLDFAST_BAD_OPTION);
  EXPECT_EQ(opens({.size = sizeof(holdfast_open_options) + 1}), HOLDFAST_BAD_OPTION);
  EXPECT_EQ(opens({.size = sizeof(holdfast_open_options), .ttl_ms = 9'000, .grace_ms = 3'000}),
            HOLDFAST_OK);
  EXPECT_EQ(opens({.size = sizeof(holdfast_open_options), .ttl_ms = 9'000, .grace_ms = 3'001}),
            HOLDFAST_BAD_OPTION)
      << "above a third of the ttl";
}

TEST(c_version, begins_with_that_of_the_headers) {
  const std::string version = holdfast_version();
  EXPECT_TRUE(version == HOLDFAST_VERSION || version.starts_with(HOLDFAST_VERSION "+") ||
              version.starts_with(HOLDFAST_VERSION "~dev"))
      << version;
}

TEST(c_errors, of_open_say_what_is_wrong_with_the_url) {
  EXPECT_NE(open_failure(HOLDFAST_BAD_URL, "").find("\"file:\""), std::string::npos);
  open_failure(HOLDFAST_BAD_URL, "nothing://x");
  open_failure(HOLDFAST_BAD_OPTION, "memory:?ttl=1ms");
  open_failure(HOLDFAST_BAD_OPTION, "memory:?no-such-option=1");
}

TEST(c_errors, of_open_without_a_url_name_the_variable) {
  const char* const before = std::getenv("HOLDFAST_URL");
  const std::string saved = before ? before : "";
  ::unsetenv("HOLDFAST_URL");
  EXPECT_NE(open_failure(HOLDFAST_BAD_URL, nullptr).find("HOLDFAST_URL"), std::string::npos);
  ::setenv("HOLDFAST_URL", "memory:by-variable", 1);
  holdfast_client* c = nullptr;
  EXPECT_EQ(holdfast_client_open(nullptr, nullptr, &c, nullptr), HOLDFAST_OK);
  EXPECT_STREQ(holdfast_client_url(c), "memory:by-variable");
  holdfast_client_free(c);
  if (before)
    ::setenv("HOLDFAST_URL", saved.c_str(), 1);
  else
    ::unsetenv("HOLDFAST_URL");
}

TEST(c_errors, of_open_report_options_that_are_wrong) {
  holdfast_open_options o{.size = sizeof o, .ttl_ms = 1};
  open_failure(HOLDFAST_BAD_OPTION, "memory:", &o);
  o.ttl_ms = -5;
  open_failure(HOLDFAST_BAD_OPTION, "memory:", &o);
  o = {};
  EXPECT_NE(open_failure(HOLDFAST_BAD_OPTION, "memory:", &o).find("sizeof"), std::string::npos);
  o.size = sizeof o + 8;
  EXPECT_NE(open_failure(HOLDFAST_BAD_OPTION, "memory:", &o).find("older"), std::string::npos);
  failure(HOLDFAST_BAD_OPTION,
          [](holdfast_error** e) { return holdfast_client_open("memory:", nullptr, nullptr, e); });
}

TEST(c_errors, of_open_report_a_directory_that_cannot_be_trusted) {
  const testkit::scratch_folder folder;
  std::filesystem::permissions(folder.path(), std::filesystem::perms::all);
  open_failure(HOLDFAST_REFUSED, ("file://" + folder.path().string()).c_str());
}

TEST(c_errors, show_no_password) {
  const holdfast_open_options o{.size = sizeof o, .password = "hunter2"};
  EXPECT_EQ(open_failure(HOLDFAST_BAD_OPTION, "memory:?password=hunter2&ttl=1ms", &o)
                .find("hunter2"),
            std::string::npos);
}

TEST(c_errors, of_acquire_report_arguments_that_are_wrong) {
  const auto c = opened("memory:");
  acquire_failure(HOLDFAST_BAD_NAME, c, nullptr);
  acquire_failure(HOLDFAST_BAD_NAME, c, "a\nb");
  holdfast_acquire_options o{.size = sizeof o, .mode = 4};
  acquire_failure(HOLDFAST_BAD_OPTION, c, "x", &o);
  o = {.size = sizeof o, .mode = -1};
  acquire_failure(HOLDFAST_BAD_OPTION, c, "x", &o);
  o = {.size = sizeof o, .renew = -1};
  acquire_failure(HOLDFAST_BAD_OPTION, c, "x", &o);
  o = {.size = sizeof o, .renew = 3};
  acquire_failure(HOLDFAST_BAD_OPTION, c, "x", &o);
  o = {.size = sizeof o, .permits = 2};
  acquire_failure(HOLDFAST_BAD_OPTION, c, "x", &o);
  o = {.size = sizeof o, .total_permits = 2};
  acquire_failure(HOLDFAST_BAD_OPTION, c, "x", &o);
  o = {.size = sizeof o, .mode = HOLDFAST_PERMIT};  // of none
  acquire_failure(HOLDFAST_BAD_OPTION, c, "x", &o);
  o = {.size = sizeof o, .ttl_ms = -1};
  acquire_failure(HOLDFAST_BAD_OPTION, c, "x", &o);
  o = {.size = sizeof o, .max_hold_ms = -1};
  acquire_failure(HOLDFAST_BAD_OPTION, c, "x", &o);
  o = {.size = sizeof o, .note = "a\nb"};
  acquire_failure(HOLDFAST_BAD_OPTION, c, "x", &o);
  o = {};
  acquire_failure(HOLDFAST_BAD_OPTION, c, "x", &o);
  failure(HOLDFAST_BAD_OPTION,
          [&](holdfast_error** e) { return holdfast_acquire(c.get(), "x", nullptr, nullptr, e); });
  EXPECT_EQ(attempt(c, "x"), HOLDFAST_OK);  // none of them has acquired it
}

TEST(c_errors, of_acquire_tell_a_busy_lock_from_a_stopped_wait) {
  const auto c = opened("memory:");
  const auto held = acquired(c, "x");
  const stop_handle stop(holdfast_stop_new());
  const holdfast_acquire_options o{.size = sizeof o, .stop = stop.get()};
  EXPECT_NE(acquire_failure(HOLDFAST_TIMED_OUT, c, "x", &o).find("\"x\""), std::string::npos);
  failure(HOLDFAST_TIMED_OUT, [&](holdfast_error** e) {
    holdfast_lease* l = nullptr;
    return holdfast_try_acquire_for(c.get(), "x", 1, &o, &l, e);
  });
  std::jthread stopper([&] { holdfast_stop_request(stop.get()); });
  failure(HOLDFAST_CANCELED, [&](holdfast_error** e) {
    holdfast_lease* l = nullptr;
    return holdfast_acquire(c.get(), "x", &o, &l, e);
  });
  acquire_failure(HOLDFAST_CANCELED, c, "x", &o);
  EXPECT_EQ(attempt(c, "free", &o), HOLDFAST_OK);  // a stop before the call leaves one attempt
}

TEST(c_errors, of_acquire_report_a_name_of_another_kind) {
  const auto c = opened("memory:");
  const auto held = acquired(c, "x");
  const holdfast_acquire_options o{.size = sizeof o, .mode = HOLDFAST_PERMIT, .total_permits = 2};
  acquire_failure(HOLDFAST_MISMATCH, c, "x", &o);
}

TEST(c_errors, of_acquire_report_what_the_store_cannot_do) {
  const testkit::scratch_folder folder;
  const auto c = opened("file://" + folder.path().string());
  const holdfast_acquire_options o{.size = sizeof o, .renew = HOLDFAST_RENEW_MANUAL};
  acquire_failure(HOLDFAST_UNSUPPORTED, c, "x", &o);
}

TEST(c_errors, of_an_outage_are_unavailable) {
  memory_store store("c-outage");
  const auto c = opened("memory:c-outage?op-timeout=100ms");
  store.begin_outage();
  acquire_failure(HOLDFAST_UNAVAILABLE, c, "x");
  failure(HOLDFAST_UNAVAILABLE, [&](holdfast_error** e) {
    int held = 1;
    const auto code = holdfast_is_held(c.get(), "x", &held, e);
    EXPECT_EQ(held, 0);
    return code;
  });
  store.end_outage();
}

TEST(c_errors, of_a_release_without_a_reply_are_of_unknown_outcome) {
  memory_store store("c-release");
  const auto c = opened("memory:c-release?op-timeout=100ms");
  const auto lease = acquired(c, "x");
  store.begin_outage();
  holdfast_error* e = nullptr;
  EXPECT_EQ(holdfast_lease_release(lease.get(), &e), HOLDFAST_OUTCOME_UNKNOWN);
  EXPECT_EQ(holdfast_error_code(e), HOLDFAST_OUTCOME_UNKNOWN);
  holdfast_error_free(e);
  store.end_outage();
}

TEST(c_errors, of_null_name_what_is_missing) {
  const client_handle none;
  acquire_failure(HOLDFAST_CLOSED, none, "x");
  failure(HOLDFAST_CLOSED, [](holdfast_error** e) {
    int held;
    return holdfast_is_held(nullptr, "x", &held, e);
  });
  const auto c = opened("memory:");
  failure(HOLDFAST_BAD_OPTION,
          [&](holdfast_error** e) { return holdfast_is_held(c.get(), "x", nullptr, e); });
  failure(HOLDFAST_NOT_HELD, [](holdfast_error** e) { return holdfast_lease_release(nullptr, e); });
  failure(HOLDFAST_NOT_HELD,
          [](holdfast_error** e) { return holdfast_lease_extend(nullptr, 1000, e); });
  failure(HOLDFAST_NOT_HELD, [](holdfast_error** e) { return holdfast_lease_check(nullptr, e); });
  failure(HOLDFAST_NOT_HELD, [](holdfast_error** e) {
    return holdfast_lease_on_loss(
        nullptr, [](void*) {}, nullptr, e);
  });
}

TEST(c_errors, of_null_are_none_where_a_value_stands_for_nothing) {
  EXPECT_EQ(holdfast_lease_held(nullptr), 0);
  EXPECT_EQ(holdfast_lease_in_doubt(nullptr), 1);
  EXPECT_EQ(holdfast_lease_token(nullptr), 0);
  EXPECT_EQ(holdfast_lease_remaining_ms(nullptr), 0);
  EXPECT_STREQ(holdfast_lease_name(nullptr), "");
  EXPECT_STREQ(holdfast_lease_owner(nullptr), "");
  EXPECT_STREQ(holdfast_client_url(nullptr), "");
  EXPECT_EQ(holdfast_client_close(nullptr), 1);
  EXPECT_EQ(holdfast_error_code(nullptr), HOLDFAST_OK);
  EXPECT_STREQ(holdfast_error_message(nullptr), "");
  holdfast_client_free(nullptr);
  holdfast_lease_free(nullptr);
  holdfast_error_free(nullptr);
  holdfast_stop_free(nullptr);
  holdfast_stop_request(nullptr);
}

TEST(c_errors, of_a_closed_client_reach_its_leases) {
  const auto c = opened("memory:");
  const auto lease = acquired(c, "x");
  EXPECT_EQ(holdfast_client_close(c.get()), 1);
  EXPECT_EQ(holdfast_lease_held(lease.get()), 0);
  failure(HOLDFAST_CLOSED,
          [&](holdfast_error** e) { return holdfast_lease_check(lease.get(), e); });
  acquire_failure(HOLDFAST_CLOSED, c, "x");
  EXPECT_EQ(holdfast_lease_release(lease.get(), nullptr), HOLDFAST_CLOSED);
}

bool fails_in_a_child(holdfast_client* c, holdfast_lease* held) {
  holdfast_lease* l = nullptr;
  int is_held = 0;
  holdfast_error* e = nullptr;
  const bool all = holdfast_lease_held(held) == 0 && holdfast_lease_in_doubt(held) == 1 &&
                   holdfast_lease_check(held, nullptr) == HOLDFAST_FORKED &&
                   holdfast_try_acquire(c, "y", nullptr, &l, nullptr) == HOLDFAST_FORKED &&
                   holdfast_is_held(c, "x", &is_held, nullptr) == HOLDFAST_FORKED &&
                   holdfast_lease_extend(held, 1000, nullptr) == HOLDFAST_FORKED &&
                   holdfast_lease_release(held, &e) == HOLDFAST_FORKED &&
                   holdfast_error_code(e) == HOLDFAST_FORKED;
  holdfast_error_free(e);
  holdfast_lease_free(held);
  holdfast_client_free(c);
  return all;
}

TEST(c_errors, of_a_child_leave_the_parents_lock_alone) {
  const auto c = opened("memory:");
  const auto held = acquired(c, "x");
  EXPECT_TRUE(
      unit_tests::is_true_in_a_child([&] { return fails_in_a_child(c.get(), held.get()); }));
  EXPECT_EQ(holdfast_lease_held(held.get()), 1);
  EXPECT_EQ(holdfast_lease_release(held.get(), nullptr), HOLDFAST_OK);
}

TEST(c_errors, of_memory_have_a_sentence_without_any_memory_and_may_be_freed) {
  holdfast_error* e = nullptr;
  EXPECT_EQ(c::report_no_memory(&e), HOLDFAST_UNAVAILABLE);
  ASSERT_NE(e, nullptr);
  EXPECT_EQ(holdfast_error_code(e), HOLDFAST_UNAVAILABLE);
  EXPECT_STREQ(holdfast_error_message(e), "there is not enough memory");
  holdfast_error_free(e);
  EXPECT_EQ(c::report_no_memory(nullptr), HOLDFAST_UNAVAILABLE);
}

TEST(c_log, goes_to_the_hook_until_it_is_taken_away) {
  std::string lines;
  holdfast_set_log_hook(
      [](holdfast_log_level level, const char* line, void* to) {
        EXPECT_EQ(level, HOLDFAST_LOG_WARNING);
        static_cast<std::string*>(to)->append(line).append(";");
      },
      &lines);
  base::log(log_level::warning, "first");
  holdfast_set_log_hook(nullptr, nullptr);
  testing::internal::CaptureStderr();
  base::log(log_level::warning, "second");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "") << "nothing is logged without a hook";
  EXPECT_EQ(lines, "first;");
}

}  // namespace
}  // namespace holdfast::c_test
