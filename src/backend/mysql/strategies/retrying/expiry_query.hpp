// The clean-up of expired rows, for an operator. It answers later.
#pragma once
#include <cstddef>
#include <string>

#include "backend/mysql/strategies/retrying/statements.hpp"
#include "backend/mysql/transport/transport.hpp"
#include "seam/result_handler.hpp"

namespace holdfast::mysql::retrying {

// Deletes the expired rows of locks whose names have the prefix, one by one. The number of them is
// the result. A row that is renewed meanwhile stays. The statements outlive the query.
void start_expiry(transport&, const statements&, std::string prefix,
                  seam::result_handler<std::size_t>&);

}  // namespace holdfast::mysql::retrying
