// The part of a page of docs/ that a test writes, from a line "<!-- ... -->" to "<!-- end -->".
#pragma once
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

namespace holdfast::pages {

// Compares the part with `expected`. With HOLDFAST_WRITE_PAGES=1 it writes `expected` there.
inline void compare_written_part(std::string_view name, std::string_view first_line,
                                 const std::string& expected) {
  const char* const docs = std::getenv("HOLDFAST_DOCS");
  const auto path = std::filesystem::path(docs ? docs : "docs") / name;
  std::ifstream in(path);
  ASSERT_TRUE(in.is_open()) << path;
  std::string page(std::istreambuf_iterator<char>(in), {});
  const std::size_t from = page.find(first_line), to = page.find("<!-- end -->\n", from);
  ASSERT_TRUE(from != page.npos && to != page.npos) << "the page has no place for the tables";
  const std::size_t start = from + first_line.size();
  if (std::getenv("HOLDFAST_WRITE_PAGES")) {
    page.replace(start, to - start, expected);
    std::ofstream(path) << page;
  } else {
    EXPECT_EQ(page.substr(start, to - start), expected)
        << "run this test with HOLDFAST_WRITE_PAGES=1";
  }
}

}  // namespace holdfast::pages
