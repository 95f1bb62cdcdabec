#include "backend/mysql/strategies/pinned/grant_number.hpp"

namespace holdfast::mysql::pinned {

namespace {

constexpr std::int64_t number_max = (1ll << 53) - 1;

}  // namespace

// The 8 high bits are the server's id, which another primary has otherwise. Below them: the second
// of the server's start, then a counter. Since 2020 in place of 1970 it fits into 53 bits until
// 2037.
std::int64_t number_of(std::uint64_t uuid_short) noexcept {
  constexpr std::uint64_t low_bits = (1ull << 56) - 1;
  constexpr std::int64_t start_of_2020 = 1577836800ll << 24;
  const auto number = static_cast<std::int64_t>(uuid_short & low_bits) - start_of_2020;
  return number > 0 && number <= number_max ? number : 0;
}

}  // namespace holdfast::mysql::pinned
