// Throwing a lock_error in one line.
#pragma once
#include <holdfast/error.hpp>

#include <string>
#include <string_view>

namespace holdfast::core {

[[noreturn]] inline void fail(errc code, std::string_view operation, std::string remedy,
                              std::string_view lock = {}, std::string_view backend = {}) {
  throw lock_error(code, {std::string(operation),
                          std::string(lock),
                          std::string(backend),
                          std::move(remedy),
                          {}});
}

}  // namespace holdfast::core
