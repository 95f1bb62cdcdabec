// The value of a key: a string, a sorted set, a hash or a list. Collections are small here: they
// are flat and searched from the front, and a hash keeps its fields in the order of their arrival,
// as Redis does with small ones.
#pragma once
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace holdfast::sim {

class sorted_set {
 public:
  struct element {
    double score;
    std::string member;
  };

  const std::vector<element>& elements() const { return elements_; }  // by score, then by member
  const element* find(std::string_view member) const;
  void put(std::string_view member, double score);
  bool erase(std::string_view member);
  void erase_first(std::size_t count);

 private:
  std::vector<element> elements_;
};

class hash {
 public:
  using field = std::pair<std::string, std::string>;

  const std::vector<field>& fields() const { return fields_; }
  const std::string* find(std::string_view name) const;
  bool put(std::string_view name, std::string_view value);  // true: it is new
  bool erase(std::string_view name);

 private:
  std::vector<field> fields_;
};

using list = std::vector<std::string>;

inline constexpr std::int64_t never_expires = std::numeric_limits<std::int64_t>::max();

struct value {
  std::variant<std::string, sorted_set, hash, list> data;
  std::int64_t expires_ms = never_expires;  // since 1970
};

}  // namespace holdfast::sim
