// The queries of an operator on locks that are rows. Each answers later.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "backend/mysql/strategies/retrying/statements.hpp"
#include "backend/mysql/transport/transport.hpp"
#include "seam/result_handler.hpp"

namespace holdfast::mysql::retrying {

// `statement` reads the rows of holders; the prefix of that length is no part of a lock's name.
void start_holders_query(transport&, sql_statement statement, std::size_t prefix,
                         seam::holders_handler&);
// The holders of all locks whose names have the prefix, page by page. The first `own` bytes of it
// are no part of a lock's name. The statements outlive the query.
void start_list(transport&, const statements&, std::string prefix, std::size_t own,
                seam::holders_handler&);
// Deletes the expired rows of locks whose names have the prefix, one by one. The number of them is
// the result. A row that is renewed meanwhile stays. The statements outlive the query.
void start_expiry(transport&, const statements&, std::string prefix,
                  seam::result_handler<std::size_t>&);
// `statements`: at least one; the lock is broken when one of them has changed something.
void start_breaking(transport&, std::vector<sql_statement> statements, seam::decision_handler&);

}  // namespace holdfast::mysql::retrying
