// Inspection of strategy `named`.
#pragma once
#include <string>
#include <string_view>

#include "backend/mysql/transport/transport.hpp"
#include "seam/result_handler.hpp"

namespace holdfast::mysql::named {

// `statement` reads the connection that holds the lock of that name. It answers later.
void start_holders_query(transport&, std::string statement, std::string_view name,
                         seam::holders_handler&);

}  // namespace holdfast::mysql::named
