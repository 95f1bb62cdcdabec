// The clean-up of expired records, for an operator. It answers later.
#pragma once
#include <cstddef>
#include <string>

#include "backend/mysql/strategies/insert/statements.hpp"
#include "backend/mysql/transport/transport.hpp"
#include "seam/result_handler.hpp"

namespace holdfast::mysql::insert {

// Deletes the expired records whose names have the prefix, one by one. The number of them is the
// result. A record that is renewed meanwhile stays. The statements outlive the query.
void start_expiry(transport&, const statements&, std::string prefix,
                  seam::result_handler<std::size_t>&);

}  // namespace holdfast::mysql::insert
