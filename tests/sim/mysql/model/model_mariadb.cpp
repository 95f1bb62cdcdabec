#include "tests/sim/mysql/model/model_mariadb.hpp"

#include <algorithm>
#include <charconv>

namespace holdfast::sim {

namespace {

constexpr unsigned lock_wait_timeout = 1205, no_such_thread = 1094, read_only = 1290;
constexpr std::int64_t us_per_s = 1'000'000;

model_reply one_row(sql_row_seen cells) {
  model_reply out;
  out.rows.push_back(std::move(cells));
  return out;
}

std::string number_text(bool b) { return b ? "1" : "0"; }

bool begins(std::string_view text, std::string_view with) { return text.starts_with(with); }

// Perhaps with FOR UPDATE.
bool reads(std::string_view statement) {
  return begins(statement, "SELECT") || begins(statement, "(SELECT");
}

// The number behind `name=` in a SET statement.
std::optional<std::int64_t> assigned(std::string_view statement, std::string_view name) {
  const std::string wanted = ' ' + std::string(name) + '=';
  const auto at = statement.find(wanted);
  if (at == statement.npos) return std::nullopt;
  const char* const from = statement.data() + at + wanted.size();
  std::int64_t out = 0;
  std::from_chars(from, statement.data() + statement.size(), out);
  return out;
}

// What stands between the parentheses of a function; `w` is at the first one.
std::string arguments(sql_words& w) {
  w.require("(");
  std::string out;
  for (int depth = 1;;) {
    const sql_word word = w.take();
    if (word.is == sql_word::end) throw unknown_sql("a parenthesis is open");
    const bool is_sign = word.is == sql_word::sign;
    if (is_sign && word.as == "(") ++depth;
    if (is_sign && word.as == ")" && --depth == 0) return out;
    out += word.as + ' ';
  }
}

}  // namespace

std::uint64_t model_mariadb::connect(time_us now) {
  sessions_[++last_id_].idle_since = now;
  return last_id_;
}

void model_mariadb::reply(std::uint64_t id, const model_reply& r, time_us now) {
  session& c = of(id);
  c.is_busy = false;
  c.waits.reset();
  c.idle_since = now;
  if (c.has_left) return end(id, false);
  listener_.on_reply(id, r);
}

void model_mariadb::execute(std::uint64_t id, std::string_view statement, time_us now) {
  if (!is_connected(id)) return;
  of(id).is_busy = true;
  run(id, std::string(statement), wall_(), now);
}

void model_mariadb::run(std::uint64_t id, const std::string& statement, time_us began,
                        time_us now) {
  if (run_session(id, statement, now) || run_named(id, statement, now)) return;
  if (!reads(statement) && (is_read_only_ || refusal_ != 0))
    return reply(id, {.error = is_read_only_ ? read_only : refusal_}, now);
  std::vector<row_key> rows = rows_of(statement);
  if (is_locked_for(id, rows)) {
    session& c = of(id);
    c.waits = wait{.statement = statement,
                   .rows = std::move(rows),
                   .began = began,
                   .ends = now + c.row_wait};
    waiting_.push_back(id);
    return;
  }
  reply(id, run_tables(id, statement, began, rows), now);
}

bool model_mariadb::run_session(std::uint64_t id, std::string_view statement, time_us now) {
  session& c = of(id);
  model_reply out;
  if (begins(statement, "SET SESSION")) {
    set_variables(c, statement);
  } else if (begins(statement, "SHOW VARIABLES")) {
    out = variables(c);
  } else if (begins(statement, "SHOW GLOBAL STATUS")) {
    out = one_row({"Uptime", std::to_string((wall_() - started_) / us_per_s)});
  } else if (begins(statement, "SELECT @@read_only")) {
    out = one_row({is_read_only_ ? "1" : "0"});
  } else if (begins(statement, "START TRANSACTION")) {
    end_transaction(c, true);
    c.is_in_transaction = true;
  } else if (statement == "COMMIT" || statement == "ROLLBACK") {
    end_transaction(c, statement == "COMMIT");
  } else if (begins(statement, "KILL ")) {
    std::uint64_t whom = 0;
    std::from_chars(statement.data() + 5, statement.data() + statement.size(), whom);
    kill(id, whom, now);
    return true;
  } else if (statement != "DO 0") {
    return false;
  }
  reply(id, out, now);
  return true;
}

void model_mariadb::set_variables(session& c, std::string_view statement) {
  std::string spaced(statement);
  std::ranges::replace(spaced, ',', ' ');
  if (const auto on = assigned(spaced, "autocommit")) c.commits = *on != 0;
  if (const auto s = assigned(spaced, "innodb_lock_wait_timeout")) c.row_wait = *s * us_per_s;
  if (const auto s = assigned(spaced, "wait_timeout")) c.idle_timeout = *s * us_per_s;
}

model_reply model_mariadb::variables(const session& c) const {
  model_reply out;
  out.rows = {{"max_connections", "151"},
              {"read_only", is_read_only_ ? "ON" : "OFF"},
              {"wait_timeout", std::to_string(c.idle_timeout / us_per_s)}};
  return out;
}

// KILL returns before the connection has ended, which may still execute what it waits for.
void model_mariadb::kill(std::uint64_t by, std::uint64_t whom, time_us now) {
  if (!is_connected(whom)) return reply(by, {.error = no_such_thread}, now);
  reply(by, {}, now);
  if (std::ranges::find(dying_, whom) == dying_.end()) dying_.push_back(whom);
}

void model_mariadb::end_killed() {
  for (const std::uint64_t id : std::exchange(dying_, {})) end(id, true);
}

// Named locks.

bool model_mariadb::run_named(std::uint64_t id, const std::string& statement, time_us now) {
  sql_words w(statement);
  const bool is_asked = w.skip("SELECT");
  if (!is_asked && !w.skip("DO")) return false;
  if (w.skip("GET_LOCK")) {
    get_lock(id, w, {}, now);
    return true;
  }
  if (w.skip("RELEASE_LOCK")) {
    const std::optional<bool> was_held = named_.release(arguments(w), id);
    sql_row_seen row{was_held ? std::optional(number_text(*was_held)) : std::nullopt};
    reply(id, is_asked ? one_row(std::move(row)) : model_reply(), now);
    return true;
  }
  if (w.skip("IS_USED_LOCK")) {
    const std::string lock = arguments(w);
    const std::uint64_t owner = named_.owner(lock);
    if (w.skip(",") && w.skip("GET_LOCK")) {
      const auto before = owner == 0 ? std::nullopt : std::optional(std::to_string(owner));
      get_lock(id, w, {.owner_before = before, .shows_owner = true}, now);
      return true;
    }
    const auto is_mine = owner == 0 ? std::nullopt : std::optional(number_text(owner == id));
    reply(id, one_row({is_mine, draw_number(lock)}), now);
    return true;
  }
  if (!w.skip("id")) return false;
  for (const char* word : {",", "host", "FROM", "information_schema", ".", "processlist", "WHERE",
                           "id", "=", "IS_USED_LOCK"})
    w.require(word);
  const std::uint64_t owner = named_.owner(arguments(w));
  reply(id, owner == 0 ? model_reply() : one_row({std::to_string(owner), "host:1"}), now);
  return true;
}

// UUID_SHORT() of server 1.
std::string model_mariadb::draw_number(const std::string& lock) {
  constexpr std::int64_t server = 1;
  const std::int64_t number = (server << 56) + (started_ / us_per_s << 24) + ++numbers_drawn_;
  if (const auto* const r = named_.holder(lock))
    numbered_[static_cast<std::uint64_t>(number)] = r->serial;
  return std::to_string(number);
}

// GET_LOCK(name,seconds), and perhaps UUID_SHORT().
void model_mariadb::get_lock(std::uint64_t id, sql_words& w, const wait& as, time_us now) {
  std::string name = arguments(w);
  const auto comma = name.rfind(", ");
  const std::int64_t seconds = std::stoll(name.substr(comma + 2));
  name.resize(comma);
  const bool is_granted = named_.acquire(name, id, seconds > 0);
  session& c = of(id);
  c.waits = as;
  c.waits->ends = now + seconds * us_per_s;
  c.waits->lock = std::move(name);
  c.waits->is_numbered = w.skip(",");
  if (is_granted || seconds == 0) finish_named(id, is_granted, now);
}

void model_mariadb::finish_named(std::uint64_t id, bool granted, time_us now) {
  sql_row_seen row;
  if (of(id).waits->shows_owner) row.push_back(of(id).waits->owner_before);
  row.emplace_back(number_text(granted));
  if (of(id).waits->is_numbered) row.emplace_back(draw_number(of(id).waits->lock));
  reply(id, one_row(std::move(row)), now);
}

// Tables and their rows.

// That a statement with locks looks at: the names that it compares `name` with, or inserts.
std::vector<model_mariadb::row_key> model_mariadb::rows_of(const std::string& statement) {
  const bool locks = !reads(statement) || statement.ends_with(" FOR UPDATE");
  if (!locks || begins(statement, "CREATE")) return {};
  sql_words w(statement);
  std::string table;
  std::set<std::string> names;
  while (!w.is_at_end()) {
    const sql_word word = w.take();
    if (word.is == sql_word::quoted_name && table.empty()) table = word.as;
    const bool is_list = word.as == "VALUES" || (word.as == "name" && w.skip("IN"));
    if (is_list && w.skip("(")) {
      do {
        if (w.next().is == sql_word::text) names.insert(w.take().as);
      } while (word.as == "name" && w.skip(","));
    } else if (word.is == sql_word::name && word.as == "name" && w.skip("=")) {
      if (w.next().is == sql_word::text) names.insert(w.take().as);
    }
  }
  std::vector<row_key> out;
  for (const std::string& name : names) out.emplace_back(table, name);
  return out;
}

// By another transaction; or a statement has waited for it for longer.
bool model_mariadb::is_locked_for(std::uint64_t id, const std::vector<row_key>& rows) const {
  const session& mine = sessions_.at(id);
  return std::ranges::any_of(rows, [&](const row_key& k) {
    if (mine.before.contains(k)) return false;
    for (const auto& [other, c] : sessions_)
      if (other != id && c.before.contains(k)) return true;
    for (const std::uint64_t other : waiting_) {
      if (other == id) return false;
      const std::vector<row_key>& theirs = sessions_.at(other).waits->rows;
      if (std::ranges::find(theirs, k) != theirs.end()) return true;
    }
    return false;
  });
}

void model_mariadb::lock_rows(session& c, const std::vector<row_key>& rows) {
  for (const row_key& k : rows) {
    if (c.before.contains(k)) continue;
    std::vector<sql_cells>& saved = c.before[k];
    const auto found = tables_.find(k.first);
    if (found == tables_.end()) continue;
    const std::size_t column = found->second.column("name");
    for (const sql_cells& row : found->second.rows)
      if (row[column].bytes == k.second) saved.push_back(row);
  }
}

model_reply model_mariadb::run_tables(std::uint64_t id, const std::string& statement, time_us began,
                                      const std::vector<row_key>& rows) {
  session& c = of(id);
  const bool is_read = reads(statement);
  if (is_read && !statement.ends_with(" FOR UPDATE")) return read(id, statement, began);
  if (c.is_in_transaction || !c.commits) {
    lock_rows(c, rows);
    c.has_written = c.has_written || !is_read;
  }
  return model_tables(tables_).execute(statement, began);
}

model_reply model_mariadb::read(std::uint64_t id, const std::string& statement, time_us began) {
  session& c = of(id);
  if (!c.is_in_transaction) {
    sql_tables all = committed(&c);
    return model_tables(all).execute(statement, began);
  }
  if (c.has_written) throw unknown_sql("a read after a write of the same transaction");
  if (!c.snapshot) c.snapshot = committed(&c);
  return model_tables(*c.snapshot).execute(statement, began);
}

sql_tables model_mariadb::committed(const session* but) const {
  sql_tables out = tables_;
  for (const auto& [id, c] : sessions_)
    if (&c != but && c.has_written) put_back(c, out);
  return out;
}

std::uint64_t model_mariadb::locks_row(const std::string& table, const std::string& name) const {
  for (const auto& [id, c] : sessions_)
    if (c.before.contains({table, name})) return id;
  return 0;
}

bool model_mariadb::has_transaction() const {
  return std::ranges::any_of(sessions_, [](const auto& each) { return each.second.has_written; });
}

const sql_table* model_mariadb::table(const std::string& name) {
  shown_.reset();
  if (has_transaction()) shown_ = committed();
  const sql_tables& all = shown_ ? *shown_ : tables_;
  const auto found = all.find(name);
  return found == all.end() ? nullptr : &found->second;
}

// The rows that it has locked, as they were before.
void model_mariadb::put_back(const session& c, sql_tables& to) {
  for (const auto& each : c.before) {
    const auto& [table, name] = each.first;
    const auto found = to.find(table);
    if (found == to.end()) continue;
    std::vector<sql_cells>& all = found->second.rows;
    const sql_cell mine = text_cell(name);
    const std::size_t column = found->second.column("name");
    std::erase_if(all, [&](const sql_cells& row) { return row[column] == mine; });
    all.insert(all.end(), each.second.begin(), each.second.end());
  }
}

void model_mariadb::end_transaction(session& c, bool commits) {
  if (!commits && c.has_written) put_back(c, tables_);
  c.before.clear();
  c.snapshot.reset();
  c.has_written = c.is_in_transaction = false;
}

// Connections that end.

void model_mariadb::end(std::uint64_t id, bool is_told) {
  const auto found = sessions_.find(id);
  if (found == sessions_.end()) return;
  end_transaction(found->second, false);
  const bool has_left = found->second.has_left;
  waiting_.remove(id);
  sessions_.erase(found);
  named_.release_all(id);
  if (is_told && !has_left) listener_.on_closed(id);
}

void model_mariadb::disconnect(std::uint64_t id) {
  if (!is_connected(id)) return;
  of(id).has_left = true;
  if (!of(id).is_busy) end(id, false);
}

void model_mariadb::restart() {
  dying_.clear();
  while (!sessions_.empty()) end(sessions_.begin()->first, true);
  named_.clear();
  last_id_ = 0;
  started_ = std::max(wall_(), started_ + us_per_s);  // it takes a second at least
  numbers_drawn_ = 0;
}

void model_mariadb::restart_from_saved() {
  static const std::vector<sql_cells> no_rows;
  restart();
  for (auto& [name, t] : tables_) t.rows = saved_.contains(name) ? saved_.at(name).rows : no_rows;
}

// Time that passes.

model_mariadb::time_us model_mariadb::next() const {
  time_us out = never;
  for (const auto& [id, c] : sessions_) {
    if (c.waits) out = std::min(out, c.waits->ends);
    if (!c.is_busy) out = std::min(out, c.idle_since + c.idle_timeout);
  }
  return out;
}

void model_mariadb::advance(time_us now) {
  std::vector<std::uint64_t> late, idle;
  for (const auto& [id, c] : sessions_) {
    if (c.waits && c.waits->ends <= now) late.push_back(id);
    if (!c.is_busy && c.idle_since + c.idle_timeout <= now) idle.push_back(id);
  }
  for (const std::uint64_t id : late) {
    if (!of(id).waits->statement.empty()) {
      waiting_.remove(id);
      reply(id, {.error = lock_wait_timeout}, now);
    } else {
      named_.leave_queue(id);
      finish_named(id, false, now);
    }
  }
  for (const std::uint64_t id : idle) end(id, true);
}

bool model_mariadb::go_on(time_us now) {
  while (const auto id = named_.take_granted()) {
    if (!is_connected(*id)) continue;
    finish_named(*id, true, now);
    return true;
  }
  for (const std::uint64_t id : waiting_) {
    const wait w = *of(id).waits;
    if (is_locked_for(id, w.rows)) continue;
    waiting_.remove(id);
    reply(id, run_tables(id, w.statement, w.began, w.rows), now);
    return true;
  }
  return false;
}

}  // namespace holdfast::sim
