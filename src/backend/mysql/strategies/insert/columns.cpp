#include "backend/mysql/strategies/insert/columns.hpp"

#include "backend/mysql/transport/statement.hpp"
#include "base/url_parts.hpp"

namespace holdfast::mysql::insert {

namespace {

struct named_column {
  const char* option;
  std::string columns::*name;
  bool is_required;
};

constexpr named_column all_columns[] = {
    {"key-column", &columns::key, true},      {"type-column", &columns::type, false},
    {"note-column", &columns::note, false},   {"owner-column", &columns::owner, true},
    {"count-column", &columns::count, false}, {"time-column", &columns::update_time, true},
    {"lease-column", &columns::lease, true},
};

columns of_shape(const seam::own_options& own, const std::string& shape) {
  columns out{.key = "resource",
              .type = {},
              .note = "description",
              .owner = "owner",
              .count = "count",
              .update_time = "update_time",
              .lease = "lease_ms",
              .type_value = "lock"};
  if (shape == "resource") return out;
  if (shape != "order")
    own.refuse("shape: there is no \"" + base::shown_option_value(shape) +
               "\"; there is resource, order");
  out.key = "order_id";
  out.type = "type";
  out.note = "memo";
  return out;
}

}  // namespace

columns read_columns(seam::own_options& own) {
  std::string shape = "resource";
  own.text("shape", shape);
  columns out = of_shape(own, shape);
  for (const named_column& c : all_columns) {
    std::string& name = out.*c.name;
    own.text(c.option, name);
    if (!is_identifier(name) && (c.is_required || !name.empty()))
      own.refuse(std::string(c.option) + ": give 1 to 64 letters, digits and underscores" +
                 (c.is_required ? "" : ", or nothing where the table has no such column"));
    for (const named_column& other : all_columns)
      if (&other != &c && !name.empty() && out.*other.name == name)
        own.refuse(std::string(c.option) + ": " + other.option + " has the same name");
  }
  const bool is_given = own.text("type", out.type_value);
  if (is_given && out.type.empty())
    own.refuse("type: the table has no type column; name it with type-column");
  return out;
}

}  // namespace holdfast::mysql::insert
