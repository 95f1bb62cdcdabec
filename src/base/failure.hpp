// Why something failed.
#pragma once
#include <holdfast/error.hpp>

#include <string>
#include <system_error>

namespace holdfast::core {

struct failure {
  std::error_code code;  // an errc
  std::string text;      // what is wrong and what to do about it, without secrets
};

}  // namespace holdfast::core
