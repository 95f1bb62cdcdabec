// For layout families: one client with locks of all kinds.
#pragma once
#include <gtest/gtest.h>
#include <holdfast/holdfast.hpp>

#include <string>
#include <vector>

namespace holdfast::testkit {

// Holds a mutex, a share and a permit: each is listed once, and ends by break_lock() of its owner.
inline void expect_listed_once_and_breakable(const client& mine) {
  const lease held = mine.mutex("a").acquire(), reads = mine.shared_mutex("b").acquire_shared(),
              permit = mine.semaphore("c", 2).acquire();
  std::vector<std::string> names;
  for (const holder& h : mine.list()) names.push_back(h.name);
  EXPECT_EQ(names, (std::vector<std::string>{"a", "b", "c"}));
  for (const lease* l : {&held, &reads, &permit}) {
    const std::vector<holder> found = mine.holders(l->name());
    ASSERT_EQ(found.size(), 1u) << l->name();
    EXPECT_FALSE(mine.break_lock(l->name(), "somebody else's"));
    EXPECT_TRUE(mine.break_lock(l->name(), found[0].owner)) << l->name();
    EXPECT_TRUE(mine.holders(l->name()).empty()) << l->name();
  }
}

}  // namespace holdfast::testkit
