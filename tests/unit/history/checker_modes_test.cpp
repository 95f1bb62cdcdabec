// Histories of readers, permits and downgrades: broken ones, and the sound ones next to them.
#include <gtest/gtest.h>

#include <string>

#include "tests/unit/history/found_faults.hpp"

namespace holdfast::history {
namespace {

const std::string reader = "a L acquire 10 20 ok 1 - shared\n"
                           "a L release 50 60 ok 1 -\n";

TEST(checker_of_shares, readers_may_hold_it_together) {
  EXPECT_EQ(found(reader + "b L acquire 12 22 ok 1 - shared\n"
                           "b L check 30 31 ok 1 -\n"
                           "b L release 80 90 ok 1 -\n"),
            "");
}

TEST(checker_of_shares, a_writer_beside_a_reader_is_reported) {
  EXPECT_EQ(found(reader + "b L acquire 30 40 ok 2 -\n"), "overlap:1,3");
  EXPECT_EQ(found(reader + "b L acquire 30 51 ok 2 -\n"), "");
}

TEST(checker_of_shares, a_reader_beside_a_writer_is_reported) {
  EXPECT_EQ(found("a L acquire 10 20 ok 1 -\n"
                  "a L release 50 60 ok 1 -\n"
                  "b L acquire 30 40 ok 2 - shared\n"),
            "overlap:1,3");
}

TEST(checker_of_shares, a_writer_is_reported_though_other_readers_came_and_went_since) {
  EXPECT_EQ(found("a L acquire 10 20 ok 1 100 shared\n"
                  "b L acquire 21 22 ok 1 - shared\n"
                  "b L release 23 24 ok 1 -\n"
                  "c L acquire 21 25 ok 1 - shared\n"
                  "c L release 26 27 ok 1 -\n"
                  "d L acquire 28 99 ok 2 -\n"),
            "overlap:1,6");
}

TEST(checker_of_shares, a_check_inside_a_writers_time_is_reported) {
  EXPECT_EQ(found("a L acquire 10 20 ok 1 40 shared\n"
                  "b L acquire 30 50 ok 2 -\n"
                  "a L check 60 61 ok 1 100\n"
                  "b L release 70 80 ok 2 -\n"),
            "overlap:1,2 overlap:2,3");
}

TEST(checker_of_shares, two_tokens_at_a_time_are_reported) {
  EXPECT_EQ(found(reader + "b L acquire 30 40 ok 2 - shared\n"), "group:1,3");
}

TEST(checker_of_shares, tokens_of_their_own_may_come_in_any_order) {
  const check_options own{.readers_share_a_token = false};
  const std::string older = "b L acquire 30 40 ok 1 - shared\n"
                            "b L release 41 42 ok 1 -\n";
  const std::string newer = "a L acquire 10 20 ok 2 - shared\n"
                            "a L release 50 60 ok 2 -\n";
  EXPECT_EQ(found(newer + older, own), "");
  EXPECT_EQ(found(newer + older), "group:1,3 token:1,3");
}

TEST(checker_of_shares, tokens_of_their_own_are_compared_with_those_of_writers) {
  const check_options own{.readers_share_a_token = false};
  const std::string writer = "w L acquire 70 80 ok 3 -\n"
                             "w L release 81 82 ok 3 -\n";
  EXPECT_EQ(found("a L acquire 10 20 ok 4 50 shared\n" + writer, own), "token:1,2");
  EXPECT_EQ(found(writer + "a L acquire 90 91 ok 2 99 shared\n", own), "token:1,3");
  EXPECT_EQ(found("a L acquire 10 20 ok 2 50 shared\n" + writer, own), "");
}

TEST(checker_of_shares, a_later_writer_with_the_readers_token_is_reported) {
  EXPECT_EQ(found(reader + "b L acquire 70 80 ok 1 -\n"), "token:1,3");
  EXPECT_EQ(found(reader + "b L acquire 70 80 ok 2 -\n"), "");
}

TEST(checker_of_shares, a_reader_with_the_token_of_a_writer_before_it_is_reported) {
  EXPECT_EQ(found("a L acquire 10 20 ok 1 -\n"
                  "a L release 30 40 ok 1 -\n"
                  "b L acquire 50 60 ok 1 - shared\n"),
            "token:1,3");
}

const std::string downgraded = "a L acquire 10 20 ok 1 -\n"
                               "a L downgrade 30 40 ok 1 -\n";

TEST(checker_of_downgrades, readers_come_in_under_the_writers_token) {
  EXPECT_EQ(found(downgraded + "b L acquire 25 41 ok 1 - shared\n"
                               "a L check 45 46 ok 1 -\n"
                               "a L release 50 60 ok 1 -\n"
                               "b L release 70 80 ok 1 -\n"
                               "c L acquire 65 90 ok 2 -\n"),
            "");
}

TEST(checker_of_downgrades, a_reader_before_it_is_reported) {
  EXPECT_EQ(found(downgraded + "b L acquire 22 25 ok 1 - shared\n"), "overlap:1,3");
}

TEST(checker_of_downgrades, a_writer_after_it_is_reported) {
  EXPECT_EQ(found(downgraded + "b L acquire 25 45 ok 2 -\n"
                               "a L release 50 60 ok 1 -\n"),
            "overlap:2,3");
}

TEST(checker_of_permits, as_many_as_there_are_may_be_held) {
  EXPECT_EQ(found("a L acquire 10 20 ok 1 - 2/3\n"
                  "b L acquire 10 21 ok 2 - 1/3\n"
                  "a L release 30 40 ok 1 -\n"
                  "c L acquire 25 35 ok 3 - 2/3\n"),
            "");
}

TEST(checker_of_permits, one_permit_too_many_is_reported) {
  EXPECT_EQ(found("a L acquire 10 20 ok 1 - 2/3\n"
                  "b L acquire 10 21 ok 2 - 1/3\n"
                  "c L acquire 25 29 ok 3 - 1/3\n"
                  "a L release 30 40 ok 1 -\n"),
            "permits:2,3");
}

TEST(checker_of_permits, come_back_at_the_deadline_of_their_holder) {
  const std::string holder = "a L acquire 10 20 ok 1 100 3/3\n";
  EXPECT_EQ(found(holder + "b L acquire 30 100 ok 2 - 1/3\n"), "");
  EXPECT_EQ(found(holder + "b L acquire 30 99 ok 2 - 1/3\n"), "permits:1,2");
}

TEST(checker_of_permits, two_counts_and_a_mutex_beside_them_are_reported) {
  const std::string holder = "a L acquire 10 20 ok 1 - 1/3\n";
  EXPECT_EQ(found(holder + "b L acquire 30 40 ok 2 - 1/5\n"), "overlap:1,2");
  EXPECT_EQ(found(holder + "b L acquire 30 40 ok 2 -\n"), "overlap:1,2");
  EXPECT_EQ(found(holder + "b L acquire 30 40 ok 2 - shared\n"), "overlap:1,2");
}

TEST(checker_of_permits, two_grants_with_one_token_are_reported) {
  EXPECT_EQ(found("a L acquire 10 20 ok 5 - 1/3\n"
                  "b L acquire 21 25 ok 4 - 1/3\n"),
            "")
      << "the store may have granted it before somebody called who takes it";
  EXPECT_EQ(found("a L acquire 10 20 ok 5 - 1/3\n"
                  "b L acquire 15 25 ok 5 - 1/3\n"),
            "token:1,2");
}

TEST(history_of_modes, is_read_as_it_was_written) {
  for (const std::string line : {"a L acquire 10 20 ok 1 - shared", "a L acquire 10 20 ok 1 9 2/5",
                                 "a L downgrade 10 20 ok 1 -"})
    EXPECT_EQ(to_line(parse_line(line)), line);
  for (const std::string how : {"share", "2/", "/5", "0/5", "6/5", "2/5/5", "shared x", ""})
    EXPECT_THROW(parse_line("a L acquire 10 20 ok 1 - " + how), malformed_history) << how;
}

}  // namespace
}  // namespace holdfast::history
