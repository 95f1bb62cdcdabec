#include "tests/interop/migration.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

#include "testkit/eventually.hpp"
#include "testkit/servers/program.hpp"
#include "testkit/servers/scratch_folder.hpp"

namespace holdfast::interop_test {
namespace {

using namespace std::chrono_literals;

const std::filesystem::path all_sources = HOLDFAST_SOURCES;

std::string text_of_file(const std::filesystem::path& path) {
  std::ostringstream all;
  all << std::ifstream(path).rdbuf();
  return all.str();
}

}  // namespace

void migration::run() const {
  const testkit::scratch_folder folder;
  folder.write("number", "0");
  constexpr int times = 40;
  const auto start = [&](std::vector<std::string> argv, const std::string& url,
                         const std::string& log) {
    argv.insert(argv.end(), {url, folder.file("number"), std::to_string(times)});
    return std::make_unique<testkit::program>(
        testkit::program_terms{.argv = std::move(argv), .output = folder.file(log)});
  };
  const auto java = all_sources / "examples" / ("from_" + library) / "Counter.java";
  const auto counter_in_java =
      start({"java", "-XX:TieredStopAtLevel=1", "-cp", class_path, java.string()}, java_url,
            "java");
  EXPECT_TRUE(testkit::eventually([&] { return folder.read("number") != "0"; }))
      << folder.read("java");
  const auto cpp = start({cpp_program}, cpp_url, "cpp");
  EXPECT_EQ(counter_in_java->wait(100s), 0) << folder.read("java");
  EXPECT_EQ(cpp->wait(100s), 0) << folder.read("cpp");
  EXPECT_EQ(folder.read("number"), std::to_string(2 * times));
}

void expect_listings(const std::string& library) {
  const std::string page = text_of_file(all_sources / "docs" / ("from-" + library + ".md"));
  for (const char* name : {"Counter.java", "counter.cpp"}) {
    const std::string program = text_of_file(all_sources / "examples" / ("from_" + library) / name);
    ASSERT_FALSE(program.empty()) << name;
    EXPECT_NE(page.find("\n" + program + "```\n"), std::string::npos) << name;
  }
}

}  // namespace holdfast::interop_test
