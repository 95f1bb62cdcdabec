#include <algorithm>
#include <string>
#include <vector>

#include "behaviour.hpp"

namespace contract {
namespace {

using namespace std::string_literals;

std::vector<std::string> odd_names() {
  return {"job",
          "Job",
          "job ",
          " job",
          "a/b",
          "a",
          "a/b/c",
          "/",
          "//",
          "/etc/passwd",
          ".",
          "..",
          "../..",
          "../../../../../../tmp/holdfast-escaped",
          "job.lock",
          ".hidden",
          "-n",
          "*",
          "~",
          "%",
          "%2F",
          "a%2Fb",
          "a%00b",
          "{tag}",
          "{tag}:1",
          "{",
          "}",
          "a:b:queue",
          "\\",
          "C:\\job",
          "'); DROP TABLE locks; --",
          "\"quoted\"",
          "$(id)",
          "`id`",
          "a,b;c=d&e?f#g",
          "schl\u00fcssel",
          "schlu\u0308ssel",
          "\u9501",
          "\U0001F512",
          "\u202Ejob",
          "nightly@host"};
}

void names_are_data(fixture& on) {
  const auto client = on.client();
  const auto other = on.client();
  auto names = odd_names();
  std::vector<holdfast::lease> leases;
  for (const auto& name : names) {
    leases.push_back(on.lock(client, name).try_acquire());
    EXPECT_TRUE(leases.back()) << name << " is a lock of its own";
  }
  for (const auto& name : names) EXPECT_FALSE(on.rival(other, name).try_acquire()) << name;
  std::vector<std::string> shown;
  for (const auto& holder : shown_by(other, names.size())) shown.push_back(holder.name);
  std::ranges::sort(names);
  EXPECT_EQ(shown, names);
  for (auto& lease : leases) lease.release();
  for (const auto& name : names) EXPECT_TRUE(on.rival(other, name).try_acquire()) << name;
}

void long_names_differ_to_the_last_byte(fixture& on) {
  const auto client = on.client();
  const auto other = on.client();
  std::vector<std::string> names = {std::string(512, 'x'), std::string(511, 'x') + "y",
                                    std::string(511, 'x'), std::string(256, 'x'),
                                    std::string(512, '/'), std::string(511, '/') + "."};
  std::string wide;
  for (int i = 0; i < 170; ++i) wide += "\u9501";
  names.push_back(wide);
  names.push_back(wide + "x");
  std::vector<holdfast::lease> leases;
  for (const auto& name : names) {
    leases.push_back(client.mutex(name).try_acquire());
    EXPECT_TRUE(leases.back()) << name;
    EXPECT_FALSE(other.mutex(name).try_acquire()) << name;
  }
  std::vector<std::string> shown;
  for (const auto& holder : shown_by(other, names.size())) shown.push_back(holder.name);
  std::ranges::sort(names);
  EXPECT_EQ(shown, names) << "and are shown whole";
}

void bad_names_are_refused(fixture& on) {
  const auto client = on.client();
  for (const auto& name : {
           ""s,
           std::string(513, 'x'),
           "a\nb"s,
           "a\0b"s,
           "\x1b[31m"s,
           "\x7f"s,
           "\t"s,
           "\xff"s,
           "a\xc0\xaf"s,
           "\xe0\x80\xaf"s,
           "\xed\xa0\x80"s,
           "\xf4\x90\x80\x80"s,
           "\xe2\x82"s,
           "\x80"s,
       }) {
    EXPECT_EQ(thrown_by([&] { (void)client.mutex(name); }), holdfast::errc::bad_name)
        << ::testing::PrintToString(name);
    EXPECT_EQ(thrown_by([&] { (void)client.recursive_mutex(name); }), holdfast::errc::bad_name);
    EXPECT_EQ(thrown_by([&] { (void)client.shared_mutex(name); }), holdfast::errc::bad_name);
    EXPECT_EQ(thrown_by([&] { (void)client.semaphore(name, 1); }), holdfast::errc::bad_name);
  }
}

}  // namespace

behaviours names() {
  return {
      CONTRACT_BEHAVIOUR(60, names_are_data, in_threads, at_the_store, nothing),
      CONTRACT_BEHAVIOUR(61, long_names_differ_to_the_last_byte, in_threads, exclusively, nothing),
      CONTRACT_BEHAVIOUR(62, bad_names_are_refused, in_threads, exclusively, nothing),
  };
}

}  // namespace contract
