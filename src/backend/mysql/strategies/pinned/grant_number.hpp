// The number of a grant, out of a UUID_SHORT() of the server.
#pragma once
#include <cstdint>

namespace holdfast::mysql::pinned {

// It grows as long as the server's clock does. 0: it does not fit into a token.
std::int64_t number_of(std::uint64_t uuid_short) noexcept;

}  // namespace holdfast::mysql::pinned
