// Answers as RESP2 has them.
#pragma once
#include <charconv>
#include <string>
#include <string_view>

#include "tests/sim/redis/model/number_text.hpp"

namespace holdfast::sim {

class resp_writer {
 public:
  explicit resp_writer(std::string& out) : out_(&out) {}

  void status(std::string_view text) { line('+', text); }
  void error(std::string_view text_with_code) { line('-', text_with_code); }
  void integer(long long n) { number_line(':', n); }
  void array(std::size_t elements) { number_line('*', static_cast<long long>(elements)); }
  void null() { out_->append("$-1\r\n"); }
  void null_array() { out_->append("*-1\r\n"); }

  void bulk(std::string_view text) {
    number_line('$', static_cast<long long>(text.size()));
    out_->append(text).append("\r\n");
  }

  void bulk_number(long long n) {
    char text[24];
    bulk({text, std::to_chars(text, text + sizeof text, n).ptr});
  }

  void bulk_score(double d) {
    digits_buffer digits;
    bulk(digits_of(d, digits));
  }

 private:
  void number_line(char kind, long long n) {
    char text[28];
    text[0] = kind;
    char* const end = std::to_chars(text + 1, text + 24, n).ptr;
    end[0] = '\r';
    end[1] = '\n';
    out_->append(text, end + 2);
  }

  void line(char kind, std::string_view text) {
    out_->push_back(kind);
    for (const char c : text) out_->push_back(c == '\r' || c == '\n' ? ' ' : c);
    out_->append("\r\n");
  }

  std::string* out_;
};

}  // namespace holdfast::sim
