// The Java and the C++ program of docs/from-redisson.md, on one lock at the same time.
#include <filesystem>
#include <fstream>
#include <sstream>

#include "testkit/servers/program.hpp"
#include "testkit/servers/scratch_folder.hpp"
#include "tests/fault/file/stage.hpp"
#include "tests/interop/redisson/stage.hpp"

namespace holdfast::redisson_test {
namespace {

using namespace std::chrono_literals;

const std::filesystem::path sources = HOLDFAST_SOURCES;

std::string text_of_file(const std::filesystem::path& path) {
  std::ostringstream all;
  all << std::ifstream(path).rdbuf();
  return all.str();
}

class redisson_migration : public with_redisson {};

TEST_F(redisson_migration, programs_of_both_libraries_lose_no_update) {
  const redis_server server;
  const testkit::scratch_folder folder;
  folder.write("number", "0");
  constexpr int times = 40;
  const std::vector<std::string> arguments{server.url(), folder.file("number"),
                                           std::to_string(times)};
  const auto run = [&](std::vector<std::string> argv, const std::string& log) {
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    return std::make_unique<testkit::program>(
        testkit::program_terms{.argv = std::move(argv), .output = folder.file(log)});
  };
  const auto counter_in_java =
      run({"java", "-XX:TieredStopAtLevel=1", "-cp", testkit::redisson_peer::class_path(),
           (sources / "examples/from_redisson/Counter.java").string()},
          "java");
  EXPECT_TRUE(file_test::eventually([&] { return folder.read("number") != "0"; }));
  const auto cpp = run({HOLDFAST_FROM_REDISSON}, "cpp");
  EXPECT_EQ(counter_in_java->wait(100s), 0) << folder.read("java");
  EXPECT_EQ(cpp->wait(100s), 0) << folder.read("cpp");
  EXPECT_EQ(folder.read("number"), std::to_string(2 * times));
}

TEST(redisson_listings, are_the_programs_that_are_tried) {
  const std::string page = text_of_file(sources / "docs/from-redisson.md");
  for (const char* name : {"Counter.java", "counter.cpp"}) {
    const std::string program = text_of_file(sources / "examples/from_redisson" / name);
    ASSERT_FALSE(program.empty()) << name;
    EXPECT_NE(page.find("\n" + program + "```\n"), std::string::npos) << name;
  }
}

}  // namespace
}  // namespace holdfast::redisson_test
