#include "tests/sim/mysql/model/schema.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::sim {

namespace {

std::optional<std::string> text_or_null(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

// {name, type, digits of a second, character set} of each column
model_reply columns_of_schema(const sql_table& t) {
  model_reply out;
  for (const sql_table::column_terms& c : t.terms())
    out.rows.push_back(
        {c.name, c.type, text_or_null(c.digits_of_second), text_or_null(c.character_set)});
  return out;
}

// {columns, whether one counts in part only} of each unique key
model_reply unique_keys_of_schema(const sql_table& t) {
  model_reply out;
  for (const std::vector<std::size_t>& key : t.unique_keys()) {
    std::vector<std::string> names;
    for (const std::size_t column : key) names.push_back(t.terms()[column].name);
    std::ranges::sort(names);
    std::string all;
    for (const std::string& name : names) all += (all.empty() ? "" : ",") + name;
    out.rows.push_back({std::move(all), "0"});
  }
  return out;
}

// {engine, the columns of the primary key with their types}
model_reply engine_and_key_of_schema(const sql_table& t) {
  std::string all;
  for (const std::size_t column : t.primary_key()) {
    const sql_table::column_terms& c = t.terms()[column];
    all += (all.empty() ? "" : ",") + c.name + ' ' + c.type;
  }
  model_reply out;
  out.rows.push_back({"InnoDB", text_or_null(all)});
  return out;
}

// The name of the table is between the two texts.
struct schema_query {
  std::string_view before, after;
  model_reply (*answer)(const sql_table&);
};

constexpr schema_query all_schema_queries[] = {
    {"SELECT COLUMN_NAME,DATA_TYPE,DATETIME_PRECISION,CHARACTER_SET_NAME "
     "FROM information_schema.COLUMNS WHERE TABLE_SCHEMA=DATABASE() AND TABLE_NAME='",
     "'", columns_of_schema},
    {"SELECT GROUP_CONCAT(COLUMN_NAME ORDER BY COLUMN_NAME),MAX(SUB_PART IS NOT NULL) "
     "FROM information_schema.STATISTICS WHERE TABLE_SCHEMA=DATABASE() AND TABLE_NAME='",
     "' AND NON_UNIQUE=0 GROUP BY INDEX_NAME", unique_keys_of_schema},
    {"SELECT ENGINE,(SELECT GROUP_CONCAT(COLUMN_NAME,' ',DATA_TYPE) FROM "
     "information_schema.COLUMNS c WHERE c.TABLE_SCHEMA=t.TABLE_SCHEMA AND "
     "c.TABLE_NAME=t.TABLE_NAME AND COLUMN_KEY='PRI') FROM information_schema.TABLES t "
     "WHERE t.TABLE_SCHEMA=DATABASE() AND t.TABLE_NAME='",
     "'", engine_and_key_of_schema},
};

}  // namespace

std::optional<model_reply> read_schema(std::string_view statement, const sql_tables& tables) {
  for (const schema_query& q : all_schema_queries) {
    if (!statement.starts_with(q.before) || !statement.ends_with(q.after)) continue;
    statement.remove_prefix(q.before.size());
    statement.remove_suffix(q.after.size());
    const auto found = tables.find(std::string(statement));
    return found == tables.end() ? model_reply() : q.answer(found->second);
  }
  return std::nullopt;
}

}  // namespace holdfast::sim
