// What the values of options mean.
#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cli/message.hpp"

namespace holdfast::cli {

// `what` is the option's name, for the message of the usage_error.
std::chrono::nanoseconds duration_of(std::string_view what, std::string_view text);
std::uint32_t number_of(std::string_view what, std::string_view text, std::uint32_t least,
                        std::uint32_t most);

template <class T>
void set_once(std::optional<T>& to, T value, std::string_view what) {
  if (to && *to != value)
    throw usage_error(std::string(what) + " is given twice with different values; keep one");
  to = std::move(value);
}

}  // namespace holdfast::cli
