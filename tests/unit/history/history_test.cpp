#include "history/history.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace holdfast::history {
namespace {

class history_file : public ::testing::Test {
 protected:
  history_file() {
    char name[] = "/tmp/holdfast-history-XXXXXX";
    const int file = ::mkstemp(name);
    EXPECT_GE(file, 0);
    ::close(file);
    path = name;
  }
  ~history_file() override { std::filesystem::remove(path); }

  std::string path;
};

record sample() {
  return {.process = "412.7",
          .lock = "nightly",
          .what = operation::acquire,
          .call = 1000,
          .back = 2000,
          .outcome = result::ok,
          .token = 77,
          .deadline = 5000};
}

std::size_t wrong_line(const std::string& text) {
  try {
    parse_history(text);
  } catch (const malformed_history& wrong) {
    EXPECT_NE(std::string(wrong.what()).find("line " + std::to_string(wrong.line())),
              std::string::npos);
    return wrong.line();
  }
  return 0;
}

TEST(history_format, a_record_is_one_line_of_eight_fields) {
  EXPECT_EQ(to_line(sample()), "412.7 nightly acquire 1000 2000 ok 77 5000");
}

TEST(history_format, a_lease_without_a_deadline_has_a_dash) {
  auto r = sample();
  r.deadline = no_deadline;
  EXPECT_EQ(to_line(r), "412.7 nightly acquire 1000 2000 ok 77 -");
  EXPECT_EQ(parse_line(to_line(r)).deadline, no_deadline);
}

TEST(history_format, every_operation_and_result_comes_back_as_written) {
  for (int what = 0; what <= static_cast<int>(operation::notice); ++what) {
    for (int outcome = 0; outcome <= static_cast<int>(result::lost); ++outcome) {
      auto r = sample();
      r.what = static_cast<operation>(what);
      r.outcome = static_cast<result>(outcome);
      EXPECT_EQ(parse_line(to_line(r)), r) << to_line(r);
    }
  }
}

TEST(history_format, a_planted_write_comes_back_as_written) {
  auto r = sample();
  r.what = operation::write;
  r.planted = true;
  EXPECT_EQ(to_line(r), "412.7 nightly write 1000 2000 ok 77 5000 planted");
  EXPECT_EQ(parse_line(to_line(r)), r);
}

TEST(history_format, a_name_of_any_bytes_comes_back_as_written) {
  auto r = sample();
  r.lock.clear();
  for (int byte = 0; byte < 256; ++byte) r.lock += static_cast<char>(byte);
  const auto line = to_line(r);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  EXPECT_EQ(parse_line(line), r);
}

TEST(history_format, the_largest_numbers_come_back_as_written) {
  auto r = sample();
  r.call = r.back = r.token = INT64_MAX;
  r.deadline = INT64_MAX - 1;
  EXPECT_EQ(parse_line(to_line(r)), r);
}

TEST(history_format, a_malformed_line_is_reported_with_its_number) {
  const auto good = to_line(sample()) + "\n";
  for (const auto* bad : {
           "",
           "412.7 nightly acquire 1000 2000 ok 77",
           "412.7 nightly acquire 1000 2000 ok 77 5000 more",
           "412.7  nightly acquire 1000 2000 ok 77 5000",
           " 412.7 nightly acquire 1000 2000 ok 77 5000",
           "412.7 nightly acquire 1000 2000 ok 77 ",
           "412.7 nightly seize 1000 2000 ok 77 5000",
           "412.7 nightly acquire 1000 2000 perhaps 77 5000",
           "412.7 nightly acquire 2000 1000 ok 77 5000",
           "412.7 nightly acquire -1 2000 ok 77 5000",
           "412.7 nightly acquire 1e3 2000 ok 77 5000",
           "412.7 nightly acquire 1000 2000 ok +77 5000",
           "412.7 nightly acquire 1000 2000 ok 9223372036854775808 5000",
           "412.7 nightly acquire 1000 2000 ok 77 --",
           "412.7 night%ly acquire 1000 2000 ok 77 5000",
           "412.7 nightly% acquire 1000 2000 ok 77 5000",
           "412.7 nightly%2 acquire 1000 2000 ok 77 5000",
           "412.7 night%2fly acquire 1000 2000 ok 77 5000",
           "412.7 night\tly acquire 1000 2000 ok 77 5000",
           "412.7 nightly acquire 1000 2000 ok 77 5000\r",
       }) {
    EXPECT_EQ(wrong_line(good + bad + "\n" + good), 2u) << bad;
  }
  EXPECT_EQ(wrong_line(good + good), 0u);
}

TEST(history_format, remarks_are_passed_over_and_lines_still_counted) {
  const auto text = "# a run\n" + to_line(sample()) + "\n#\n" + to_line(sample()) + "\n";
  const auto read = parse_history(text);
  ASSERT_EQ(read.records.size(), 2u);
  EXPECT_EQ(read.records[0].line, 2u);
  EXPECT_EQ(read.records[1].line, 4u);
  EXPECT_FALSE(read.torn);
}

TEST(history_format, a_last_line_without_an_end_is_left_out_and_reported) {
  const auto read = parse_history(to_line(sample()) + "\n412.7 nightly acq");
  EXPECT_EQ(read.records.size(), 1u);
  EXPECT_TRUE(read.torn);
}

TEST_F(history_file, an_empty_file_is_an_empty_history) {
  EXPECT_TRUE(read_history(path).records.empty());
}

TEST_F(history_file, a_missing_file_is_reported) {
  EXPECT_THROW(read_history(path + "-none"), std::system_error);
  EXPECT_THROW(history_writer("/nowhere/at/all"), std::system_error);
}

TEST_F(history_file, a_full_disk_is_reported_and_never_swallowed) {
  history_writer writer("/dev/full");
  EXPECT_THROW(writer.add(sample()), std::system_error);
}

TEST_F(history_file, threads_write_whole_lines) {
  constexpr int threads = 4;
  constexpr int each = 500;
  {
    history_writer writer(path);
    std::vector<std::jthread> contenders;
    for (int t = 0; t < threads; ++t) {
      contenders.emplace_back([&writer, t] {
        auto r = sample();
        r.process = std::string(20, static_cast<char>('a' + t));
        for (r.token = 1; r.token <= each; ++r.token) writer.add(r);
      });
    }
  }
  const auto read = read_history(path);
  EXPECT_FALSE(read.torn);
  ASSERT_EQ(read.records.size(), std::size_t{threads} * each);
  std::vector<std::int64_t> last(threads, 0);
  for (const auto& r : read.records) {
    auto& before = last.at(static_cast<std::size_t>(r.process[0] - 'a'));
    EXPECT_EQ(r.token, before + 1);
    before = r.token;
  }
}

TEST_F(history_file, what_was_written_outlives_a_kill) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    history_writer writer(path);
    for (int i = 0; i < 10; ++i) writer.add(sample());
    ::raise(SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(read_history(path).records.size(), 10u);
}

}  // namespace
}  // namespace holdfast::history
