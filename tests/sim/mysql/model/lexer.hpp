// The words of a statement, in the model of MariaDB.
#pragma once
#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::sim {

// A statement that the model does not know: the model has to learn it.
class unknown_sql : public std::runtime_error {
 public:
  using runtime_error::runtime_error;
};

// The bytes of a hexadecimal literal, of its digits.
std::string unhexed(std::string_view digits);

struct sql_word {
  enum kind : unsigned char { end, name, quoted_name, number, text, sign } is = end;
  std::string as;  // a text: its bytes
};

class sql_words {
 public:
  explicit sql_words(std::string_view statement);

  const sql_word& next() const noexcept { return all_[at_]; }
  // The n-th word after the next one; past all of them: the end.
  const sql_word& ahead(std::size_t n) const noexcept {
    return all_[std::min(at_ + n, all_.size() - 1)];
  }
  sql_word take();
  bool is_next(std::string_view word) const noexcept;  // a keyword, in capitals, or a sign
  bool skip(std::string_view word);
  void require(std::string_view word);
  std::string take_name();
  bool is_at_end() const noexcept { return next().is == sql_word::end; }
  void skip_parentheses();  // and all in them

 private:
  std::vector<sql_word> all_;
  std::size_t at_ = 0;
};

}  // namespace holdfast::sim
