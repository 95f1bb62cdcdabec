// Times and numbers as a server reports them, bounded before anything is computed with them.
#pragma once
#include <chrono>
#include <cstdint>

#include "base/environment.hpp"

namespace holdfast::redis {

using base::duration;
using base::time_point;
using server_time = std::chrono::microseconds;  // the server's clock, since 1970

// The largest integer that a script at the server computes with exactly.
inline constexpr std::int64_t number_max = (std::int64_t{1} << 53) - 1;

// A time that cannot be one is zero: it was not given. The last is in the year 2255.
constexpr server_time server_time_of(std::int64_t us) noexcept {
  return us > 0 && us <= number_max ? server_time{us} : server_time::zero();
}
// As a server takes a span: whole milliseconds, rounded up.
constexpr std::int64_t in_ms(duration d) noexcept {
  return std::chrono::ceil<std::chrono::milliseconds>(d).count();
}
// A span without an end, or with one that cannot be, has none.
constexpr duration span_of(std::int64_t ms) noexcept {
  constexpr auto most = std::chrono::floor<std::chrono::milliseconds>(duration::max());
  return ms < 0 || ms > most.count() ? duration::max() : duration(std::chrono::milliseconds{ms});
}

}  // namespace holdfast::redis
