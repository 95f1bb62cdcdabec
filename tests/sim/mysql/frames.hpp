// The protocol between the simulator's connections and its model of MariaDB, in place of the one
// that libmariadb speaks. A frame is its length in four bytes, and its content.
//
//   from    | content
//   --------+------------------------------------------------------
//   client  | first the name of its user, then statements: several in one frame are a line each
//   server  | first the id of the connection, then a reply to each
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "backend/mysql/transport/sql_connection.hpp"
#include "tests/sim/mysql/model/model_tables.hpp"

namespace holdfast::sim {

std::string frame_of(std::string_view content);

// Puts frames together from pieces.
class frame_reader {
 public:
  void add(std::string_view bytes) { bytes_ += bytes; }
  std::optional<std::string> next();

 private:
  std::string bytes_;
};

std::string content_of(const model_reply&);
mysql::sql_reply read_reply(std::string_view content);
bool is_error(std::string_view frames);  // the first reply of several frames

}  // namespace holdfast::sim
