// The expressions of the statements that the strategies of mysql: send, in the model of MariaDB.
#pragma once
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/sim/mysql/model/cell.hpp"
#include "tests/sim/mysql/model/lexer.hpp"

namespace holdfast::sim {

struct sql_scope {
  // The value of a column; `table` may be empty.
  std::function<sql_cell(const std::string& table, const std::string& column)> column;
  std::int64_t now = 0;  // when the statement started: microseconds since 1970
  std::optional<std::int64_t>& last_insert_id;  // set by LAST_INSERT_ID(n)
};

// Parsed once, evaluated for each row.
class sql_expression {
 public:
  static sql_expression parse(sql_words&);  // OR binds least
  sql_cell value(const sql_scope&) const;

 private:
  enum class operation : unsigned char {
    literal,
    column,
    call,
    either,
    both,
    negation,
    comparison,
    is_in,
    like,
    sum,
    difference,
    product,
    quotient,
    interval,  // in microseconds
  };

  explicit sql_expression(operation o) : is_(o) {}
  static sql_expression of(operation, std::string name, std::vector<sql_expression>);
  struct chain_word {
    const char* word;
    operation means;
  };
  static sql_expression parse_chain(sql_words&, sql_expression (*part)(sql_words&),
                                    std::initializer_list<chain_word>);
  static sql_expression parse_and(sql_words&);
  static sql_expression parse_not(sql_words&);
  static sql_expression parse_comparison(sql_words&);
  static sql_expression parse_sum(sql_words&);
  static sql_expression parse_product(sql_words&);
  static sql_expression parse_primary(sql_words&);
  static sql_expression parse_call(sql_words&, std::string name);
  static std::vector<sql_expression> parse_list(sql_words&);
  sql_cell call(const sql_scope&) const;
  sql_cell like(const sql_cell& text, const sql_cell& pattern) const;
  static sql_cell compare(const std::string& sign, const sql_cell&, const sql_cell&);

  operation is_;
  std::string name_;   // of a column, a function, a comparison; of LIKE: its escape character
  std::string table_;  // of a column
  sql_cell literal_;
  std::vector<sql_expression> parts_;
};

}  // namespace holdfast::sim
