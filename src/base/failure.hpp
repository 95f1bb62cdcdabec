// Why something failed.
#pragma once
#include <holdfast/error.hpp>

#include <string>
#include <system_error>

namespace holdfast::base {

struct failure {
  std::error_code code;  // an errc
  std::string text;      // what is wrong and what to do about it, without secrets
};

// The failure of a call that found no thread or no descriptor left.
inline failure shortage_of(const std::system_error& why) {
  const bool is_thread = why.code() == std::errc::resource_unavailable_try_again;
  return {errc::unavailable,
          std::string(why.what()) + (is_thread ? "; raise the limit of processes (ulimit -u)"
                                               : "; raise the limit of open files (ulimit -n)")};
}

}  // namespace holdfast::base
