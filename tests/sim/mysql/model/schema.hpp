// What information_schema shows of tables, in the model of MariaDB: the statements by which the
// strategies check their tables.
#pragma once
#include <optional>
#include <string_view>

#include "tests/sim/mysql/model/model_tables.hpp"

namespace holdfast::sim {

// {}: the statement is another one. A table that does not exist has no rows there.
std::optional<model_reply> read_schema(std::string_view statement, const sql_tables&);

}  // namespace holdfast::sim
