// Catches the error that a call throws.
#pragma once
#include <holdfast/error.hpp>

#include <system_error>

namespace holdfast::testkit {

// The code that the call throws as lock_error; {} when it throws nothing.
template <class Call>
std::error_code thrown_by(Call&& call) {
  try {
    call();
  } catch (const lock_error& error) {
    return error.code();
  }
  return {};
}

}  // namespace holdfast::testkit
