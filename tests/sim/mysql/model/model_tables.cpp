#include "tests/sim/mysql/model/model_tables.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "tests/sim/mysql/model/schema.hpp"

namespace holdfast::sim {

namespace {

constexpr unsigned no_such_table = 1146;

const model_reply absent{.error = no_such_table};

std::optional<std::string> text_of(const sql_cell& c) {
  switch (c.is) {
    case sql_cell::number: return std::to_string(c.value);
    case sql_cell::text: return c.bytes;
    case sql_cell::time: return text_of_time(c.value);
    default: return std::nullopt;
  }
}

// FOR UPDATE or LOCK IN SHARE MODE, and what a statement that finds a locked row is to do. Rows are
// locked elsewhere.
void skip_locking(sql_words& w) {
  if (w.skip("FOR")) {
    w.require("UPDATE");
  } else if (w.skip("LOCK")) {
    for (const char* word : {"IN", "SHARE", "MODE"}) w.require(word);
  } else {
    return;
  }
  if (w.skip("WAIT")) w.take();
  if (w.skip("SKIP")) w.require("LOCKED");
  w.skip("NOWAIT");
}

void require_end(const sql_words& w) {
  if (!w.is_at_end()) throw unknown_sql("the statement goes on with " + w.next().as);
}

}  // namespace

model_reply model_tables::execute(std::string_view statement, std::int64_t now) {
  if (auto of_schema = read_schema(statement, tables_)) return *std::move(of_schema);
  sql_words w(statement);
  context c{.now = now};
  if (w.skip("SELECT") || w.is_next("(")) return select(w, c);
  if (w.skip("INSERT")) return insert(w, std::move(c));
  if (w.skip("UPDATE")) return update(w, std::move(c));
  if (w.skip("DELETE")) return remove(w, std::move(c));
  if (w.skip("CREATE")) return create(w);
  throw unknown_sql("the statement " + std::string(statement));
}

sql_table* model_tables::find(const std::string& name) {
  const auto found = tables_.find(name);
  return found == tables_.end() ? nullptr : &found->second;
}

// Of a column without a table, the first source that has it.
std::size_t model_tables::source_of(const context& c, const std::string& table,
                                    const std::string& column) {
  for (std::size_t i = 0; i < c.sources.size(); ++i) {
    if (!table.empty() && c.sources[i].name != table) continue;
    try {
      c.sources[i].table->column(column);
      return i;
    } catch (const unknown_sql&) {
      if (!table.empty()) throw;
    }
  }
  throw unknown_sql("the column " + column);
}

sql_scope model_tables::scope(context& c) {
  return {.column =
              [&c](const std::string& table, const std::string& column) {
                const source& s = c.sources[source_of(c, table, column)];
                if (s.row == no_row) return sql_cell();
                return s.table->rows.at(s.row).at(s.table->column(column));
              },
          .now = c.now,
          .last_insert_id = c.last_insert_id};
}

std::vector<model_tables::assignment> model_tables::parse_assignments(sql_words& w) {
  std::vector<assignment> out;
  do {
    std::string table, column = w.take_name();
    if (w.skip(".")) {
      table = std::move(column);
      column = w.take_name();
    }
    w.require("=");
    out.push_back({std::move(table), std::move(column), sql_expression::parse(w)});
  } while (w.skip(","));
  return out;
}

// From left to right; a later one sees the values of an earlier one. Whether a row has changed.
bool model_tables::assign(context& c, const std::vector<assignment>& all) {
  bool has_changed = false;
  for (const assignment& a : all) {
    const source& s = c.sources[source_of(c, a.table, a.column)];
    const std::size_t column = s.table->column(a.column);
    const sql_cell value = s.table->stored(column, a.value.value(scope(c)));
    sql_cell& to = s.table->rows.at(s.row).at(column);
    has_changed = has_changed || !(to == value);
    to = value;
  }
  return has_changed;
}

// Of the first source, and the row that a LEFT JOIN adds to it.
void model_tables::go_to_row(context& c, std::size_t row) {
  c.sources[0].row = row;
  if (!c.joined_on) return;
  source& added = c.sources[1];
  for (added.row = 0; added.row < added.table->rows.size(); ++added.row)
    if (c.joined_on->value(scope(c)).is_true()) return;
  added.row = no_row;
}

// Every combination of rows for which all conditions are true.
template <class Each>
void model_tables::for_each_match(context& c, const std::vector<sql_expression>& conditions,
                                  Each each) {
  const bool is_joined = c.sources.size() > 1 && !c.joined_on;
  const std::size_t others = is_joined ? c.sources[1].table->rows.size() : 1;
  for (std::size_t i = 0; i < c.sources[0].table->rows.size(); ++i) {
    for (std::size_t j = 0; j < others; ++j) {
      go_to_row(c, i);
      if (is_joined) c.sources[1].row = j;
      bool matches = true;
      for (const sql_expression& condition : conditions)
        matches = matches && condition.value(scope(c)).is_true();
      if (matches) each();
    }
  }
}

model_reply model_tables::create(sql_words& w) {
  for (const char* word : {"TABLE", "IF", "NOT", "EXISTS"}) w.require(word);
  const std::string name = w.take_name();
  sql_table made(w);
  tables_.try_emplace(name, std::move(made));
  return {};
}

model_reply model_tables::select(sql_words& w, const context& c) {
  model_reply out = select_part(w, c);
  while (out.error == 0 && w.skip("UNION")) {
    w.require("ALL");
    if (!w.is_next("(")) w.require("SELECT");
    model_reply more = select_part(w, c);
    if (more.error != 0) return more;
    out.rows.insert(out.rows.end(), more.rows.begin(), more.rows.end());
  }
  if (out.error != 0) return out;
  if (w.skip("ORDER")) sort(out.rows, w);
  skip_locking(w);
  require_end(w);
  return out;
}

// In parentheses, or behind its SELECT.
model_reply model_tables::select_part(sql_words& w, const context& c) {
  if (!w.skip("(")) return select_one(w, c);
  w.require("SELECT");
  model_reply out = select_one(w, c);
  if (out.error == 0) w.require(")");
  return out;
}

// ORDER BY 1,3,2: by the places of columns. A column of numbers comes as their text.
void model_tables::sort(std::vector<sql_row_seen>& rows, sql_words& w) {
  w.require("BY");
  std::vector<std::size_t> places;
  do {
    places.push_back(std::stoul(w.take().as) - 1);
  } while (w.skip(","));
  const auto is_before = [](const std::optional<std::string>& a,
                            const std::optional<std::string>& b) {
    const auto is_number = [](const std::string& s) {
      return !s.empty() && s.find_first_not_of("0123456789") == s.npos;
    };
    if (a && b && is_number(*a) && is_number(*b) && a->size() != b->size())
      return a->size() < b->size();
    return a < b;
  };
  std::stable_sort(rows.begin(), rows.end(), [&](const sql_row_seen& a, const sql_row_seen& b) {
    for (const std::size_t at : places) {
      if (is_before(a.at(at), b.at(at))) return true;
      if (is_before(b.at(at), a.at(at))) return false;
    }
    return false;
  });
}

// False: there is no table of that name.
bool model_tables::left_join(sql_words& w, context& c) {
  w.require("JOIN");
  sql_table* const joined = find(w.take_name());
  c.sources.push_back({w.take_name(), joined});
  w.require("ON");
  c.joined_on = sql_expression::parse(w);
  return joined != nullptr;
}

// Its rows may be ordered by columns, and limited.
model_reply model_tables::select_one(sql_words& w, context c) {
  std::vector<sql_expression> wanted, conditions;
  do {
    wanted.push_back(sql_expression::parse(w));
  } while (w.skip(","));
  w.require("FROM");
  const std::string name = w.take_name();
  sql_table* const t = find(name);
  if (!t) return absent;
  c.sources.push_back({name, t});
  if (w.skip("LEFT") && !left_join(w, c)) return absent;
  if (w.skip("WHERE")) conditions.push_back(sql_expression::parse(w));
  std::vector<std::size_t> matches;
  for_each_match(c, conditions, [&] { matches.push_back(c.sources[0].row); });
  const bool is_by_columns = w.ahead(2).is != sql_word::number;
  if (is_by_columns && w.skip("ORDER")) order(matches, *t, w);
  if (w.skip("LIMIT")) matches.resize(std::min(matches.size(), std::stoul(w.take().as)));
  model_reply out;
  for (const std::size_t row : matches) {
    go_to_row(c, row);
    auto& shown = out.rows.emplace_back();
    for (const sql_expression& e : wanted) shown.push_back(text_of(e.value(scope(c))));
  }
  return out;
}

// ORDER BY expires_at,name; the columns are those of the first table.
void model_tables::order(std::vector<std::size_t>& rows, const sql_table& t, sql_words& w) {
  w.require("BY");
  std::vector<std::size_t> columns;
  do {
    std::string name = w.take_name();
    if (w.skip(".")) name = w.take_name();
    columns.push_back(t.column(name));
  } while (w.skip(","));
  std::ranges::stable_sort(rows, [&](std::size_t a, std::size_t b) {
    for (const std::size_t column : columns) {
      const sql_cell &x = t.rows[a][column], &y = t.rows[b][column];
      if (!(x == y)) return x.value != y.value ? x.value < y.value : x.bytes < y.bytes;
    }
    return false;
  });
}

model_reply model_tables::insert(sql_words& w, context c) {
  w.require("INTO");
  const std::string name = w.take_name();
  sql_table* const t = find(name);
  if (!t) return absent;
  std::vector<std::size_t> columns;
  if (w.skip("(")) {
    do {
      columns.push_back(t->column(w.take_name()));
    } while (w.skip(","));
    w.require(")");
  } else {
    for (std::size_t i = 0; i < t->columns(); ++i) columns.push_back(i);
  }
  w.require("VALUES");
  w.require("(");
  sql_cells cells(t->columns());
  for (const std::size_t column : columns) {
    cells[column] = t->stored(column, sql_expression::parse(w).value(scope(c)));
    w.skip(",");
  }
  w.require(")");
  for (const char* word : {"ON", "DUPLICATE", "KEY", "UPDATE"}) w.require(word);
  c.sources.push_back({name, t});
  const std::vector<assignment> otherwise = parse_assignments(w);
  require_end(w);
  t->count(cells);
  const std::optional<std::size_t> duplicate = t->duplicate_of(cells);
  model_reply out;
  if (!duplicate) {
    t->rows.push_back(std::move(cells));
    out.affected = 1;
  } else {
    c.sources[0].row = *duplicate;
    out.affected = assign(c, otherwise) ? 2 : 0;
  }
  return out;
}

model_reply model_tables::update(sql_words& w, context c) {
  const std::string name = w.take_name();
  std::vector<sql_expression> conditions;
  c.sources.push_back({name, find(name)});
  if (w.skip("FORCE")) {
    w.require("INDEX");
    w.skip_parentheses();
  }
  if (w.skip("JOIN")) {
    sql_table* const joined = find(w.take_name());
    c.sources.push_back({w.take_name(), joined});
    w.require("ON");
    conditions.push_back(sql_expression::parse(w));
  }
  for (const source& s : c.sources)
    if (!s.table) return absent;
  w.require("SET");
  const std::vector<assignment> all = parse_assignments(w);
  w.require("WHERE");
  conditions.push_back(sql_expression::parse(w));
  require_end(w);
  model_reply out;
  for_each_match(c, conditions, [&] {
    std::vector<sql_cells> before;
    for (const source& s : c.sources) before.push_back(s.table->rows.at(s.row));
    assign(c, all);
    for (std::size_t i = 0; i < c.sources.size(); ++i)
      out.affected += c.sources[i].table->rows.at(c.sources[i].row) != before[i] ? 1 : 0;
  });
  out.insert_id = static_cast<std::uint64_t>(c.last_insert_id.value_or(0));
  return out;
}

model_reply model_tables::remove(sql_words& w, context c) {
  w.require("FROM");
  const std::string name = w.take_name();
  sql_table* const t = find(name);
  if (!t) return absent;
  c.sources.push_back({name, t});
  w.require("WHERE");
  const std::vector<sql_expression> conditions{sql_expression::parse(w)};
  require_end(w);
  std::set<std::size_t> matches;
  for_each_match(c, conditions, [&] { matches.insert(c.sources[0].row); });
  for (auto at = matches.rbegin(); at != matches.rend(); ++at)
    t->rows.erase(t->rows.begin() + static_cast<std::ptrdiff_t>(*at));
  return {.affected = matches.size()};
}

}  // namespace holdfast::sim
