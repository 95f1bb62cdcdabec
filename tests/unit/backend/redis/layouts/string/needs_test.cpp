#include "backend/redis/layouts/string/needs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <string>

#include "backend/redis/layouts/string/scripts.hpp"

namespace holdfast::redis {
namespace {

TEST(redis_string_needs, name_every_command_of_the_scripts) {
  std::set<std::string, std::less<>> named{"hmget"};  // of guards, on keys of the program's own
  for (const auto all : {needs_of_string().commands, commands_of_connections()})
    for (const required_command& c : all) named.emplace(c.right);
  std::size_t calls = 0;
  for (const script& s : all_scripts()) {
    const std::string_view text = s.text;
    constexpr std::string_view call = "call('";
    for (auto at = text.find(call); at != text.npos; at = text.find(call, at + 1)) {
      const auto from = at + call.size();
      std::string name(text.substr(from, text.find('\'', from) - from));
      std::ranges::transform(name, name.begin(),
                             [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
      EXPECT_TRUE(named.contains(name)) << name << " is called by a script";
      ++calls;
    }
  }
  EXPECT_GT(calls, 50u);
}

}  // namespace
}  // namespace holdfast::redis
