// The fixture of every test of the command: a directory of locks of its own.
#pragma once
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/cli/process.hpp"

namespace holdfast::cli_test {

using words = std::vector<std::string>;

class cli : public ::testing::Test {
 protected:
  cli();
  ~cli() override;

  // `holdfast run OPTIONS... lock -- COMMAND...` on the file backend of this test.
  words on_file(words options, words command) const;
  words on_memory(const std::string& query, words options, words command) const;
  std::string file_url() const { return "file://" + folder_.string(); }
  std::filesystem::path path(const std::string& name) const { return scratch_ / name; }

 private:
  // Without the program: "run OPTIONS... lock -- COMMAND...".
  static words run(words options, words command);

  std::filesystem::path scratch_, folder_;
};

// A store that stops when a command has begun on a busy machine, too; seconds later its leases end.
inline constexpr const char* lost_soon = "?ttl=4s&stop-after=2s&op-timeout=1s";

// A command that prints its process number and then sleeps far beyond the test.
words sleeper();
// As sh -c.
words shell(const std::string& script);

// The number of the process that a sleeper has printed.
pid_t number_in(const std::string& line);

}  // namespace holdfast::cli_test
