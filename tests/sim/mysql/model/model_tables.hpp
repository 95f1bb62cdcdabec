// The statements of the strategies of mysql: that read and write tables, each as if it were alone.
// One that the model does not know is an error of the model, never a reply.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/sim/mysql/model/expression.hpp"
#include "tests/sim/mysql/model/table.hpp"

namespace holdfast::sim {

using sql_row_seen = std::vector<std::optional<std::string>>;  // {}: NULL

struct model_reply {
  unsigned error = 0;  // the server's number
  std::uint64_t affected = 0, insert_id = 0;
  std::vector<sql_row_seen> rows{};
};

using sql_tables = std::map<std::string, sql_table>;

class model_tables {
 public:
  explicit model_tables(sql_tables& all) noexcept : tables_(all) {}
  // `now`: when the statement starts, by the server's clock: microseconds since 1970. Throws
  // unknown_sql.
  model_reply execute(std::string_view statement, std::int64_t now);

 private:
  static constexpr std::size_t no_row = SIZE_MAX;
  struct source {  // a table of a statement, under the name that the statement uses
    std::string name;
    sql_table* table;
    std::size_t row = 0;  // no_row: each of its columns is NULL
  };
  struct assignment {
    std::string table, column;
    sql_expression value;
  };
  // What one statement needs; ended with it.
  struct context {
    std::int64_t now = 0;
    std::optional<std::int64_t> last_insert_id{};
    std::vector<source> sources{};
    // Of a LEFT JOIN with the second source, by which that has one row at the most.
    std::optional<sql_expression> joined_on{};
  };

  sql_table* find(const std::string& name);
  static sql_scope scope(context&);
  static std::size_t source_of(const context&, const std::string& table, const std::string& column);
  static std::vector<assignment> parse_assignments(sql_words&);
  static bool assign(context&, const std::vector<assignment>&);
  static void go_to_row(context&, std::size_t row);
  template <class Each>
  static void for_each_match(context&, const std::vector<sql_expression>& conditions, Each);

  model_reply create(sql_words&);
  model_reply select(sql_words&, const context&);
  model_reply select_part(sql_words&, const context&);
  model_reply select_one(sql_words&, context);
  bool left_join(sql_words&, context&);
  static void order(std::vector<std::size_t>& rows, const sql_table&, sql_words&);
  static void sort(std::vector<sql_row_seen>&, sql_words&);
  model_reply insert(sql_words&, context);
  model_reply update(sql_words&, context);
  model_reply remove(sql_words&, context);

  sql_tables& tables_;
};

}  // namespace holdfast::sim
