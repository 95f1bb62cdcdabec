// Faults played in rounds: whoever holds must know that it does not before anybody else may. A
// control plants a mutant and plays until that went wrong: the rounds can tell.
#pragma once
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/mutant.hpp"
#include "tests/fault/zookeeper/fixture.hpp"

namespace holdfast::zookeeper_test {

// HOLDFAST_ROUNDS=N, as ./dev torture sets it: N rounds, and all faults and controls. Without
// it a few of what is quick.
inline int rounds_or(int few) {
  const char* const text = std::getenv("HOLDFAST_ROUNDS");
  return text ? std::atoi(text) : few;
}
inline bool plays_all() { return std::getenv("HOLDFAST_ROUNDS") != nullptr; }

class planted_mutant {
 public:
  explicit planted_mutant(base::mutant m) { base::plant(m); }
  planted_mutant(const planted_mutant&) = delete;
  planted_mutant& operator=(const planted_mutant&) = delete;
  ~planted_mutant() { base::plant(base::mutant::none); }
};

}  // namespace holdfast::zookeeper_test
