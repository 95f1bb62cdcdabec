// Inspection of strategy `for-update`.
#pragma once
#include <string_view>

#include "backend/mysql/strategies/for_update/statements.hpp"
#include "backend/mysql/transport/transport.hpp"
#include "seam/result_handler.hpp"

namespace holdfast::mysql::for_update {

// The server does not report which connection has locked a row. It answers later.
void start_holders_query(transport&, row_probes, std::string_view name, seam::holders_handler&);

}  // namespace holdfast::mysql::for_update
