// A behaviour that a subject is known not to have. Its case must fail: when it passes, the list is
// wrong.
#pragma once
#include <functional>
#include <string>
#include <string_view>

#include "modes.hpp"

namespace contract {

struct expected_failure {
  std::string_view behaviour;  // its name, as in docs/internals/contract.md with _ for spaces
  std::string_view reason;     // what of the store or its layout prevents it
  in_modes modes = in_every_mode;
  // More than 1: two clients race, so it fails in most plays only, and is played until it fails.
  int plays_max = 1;
};

// Plays it and keeps what fails in it, on any thread, from the test that runs. The first failure,
// or exception; empty when it passes.
std::string failure_in(const std::function<void()>& play);

}  // namespace contract
