#include "tests/sim/mysql/model/model_mariadb.hpp"

#include <algorithm>
#include <charconv>

#include "tests/sim/mysql/model/locking.hpp"

namespace holdfast::sim {

namespace {

constexpr unsigned lock_wait_timeout = 1205, no_such_thread = 1094, read_only = 1290;
constexpr unsigned deadlock = 1213, query_interrupted = 1317;
constexpr std::int64_t us_per_s = 1'000'000;

model_reply one_row(sql_row_seen cells) {
  model_reply out;
  out.rows.push_back(std::move(cells));
  return out;
}

constexpr std::string_view settings_of_one = "/*M! SET STATEMENT ", end_of_settings = "FOR */ ";

std::string number_text(bool b) { return b ? "1" : "0"; }

bool begins(std::string_view text, std::string_view with) { return text.starts_with(with); }

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
  session& made = sessions_[++last_id_];
  made.idle_since = now;
  made.address = "client:" + std::to_string(++last_port_);
  return last_id_;
}

void model_mariadb::reply(std::uint64_t id, const model_reply& r, time_us now) {
  session& c = of(id);
  c.waits.reset();
  c.idle_since = now;
  if (r.error != 0) c.next.clear();
  c.is_busy = !c.next.empty();
  if (c.has_left && !c.is_busy) return end(id, false);
  if (!c.has_left) listener_.on_reply(id, r);
  if (is_connected(id) && of(id).is_busy) run_next(id, now);
}

void model_mariadb::execute(std::uint64_t id, std::string_view statements, time_us now) {
  if (!is_connected(id)) return;
  session& c = of(id);
  c.is_busy = true;
  for (std::size_t end = 0; end != statements.npos;) {
    end = statements.find('\n');
    c.next.emplace_back(statements.substr(0, end));
    statements.remove_prefix(end == statements.npos ? 0 : end + 1);
  }
  run_next(id, now);
}

void model_mariadb::run_next(std::uint64_t id, time_us now) {
  session& c = of(id);
  std::string statement = std::move(c.next.front());
  c.next.pop_front();
  c.row_wait_of_statement = c.row_wait;
  if (begins(statement, settings_of_one)) {
    const std::string_view settings(statement.data(), statement.find(end_of_settings));
    if (const auto s = assigned(settings, "innodb_lock_wait_timeout"))
      c.row_wait_of_statement = *s * us_per_s;
    statement.erase(0, settings.size() + end_of_settings.size());
  }
  run(id, statement, wall_(), now);
}

void model_mariadb::run(std::uint64_t id, const std::string& statement, time_us began,
                        time_us now) {
  if (run_session(id, statement, now) || run_named(id, statement, now)) return;
  if (!reads(statement) && (is_read_only_ || refusal_ != 0))
    return reply(id, {.error = is_read_only_ ? read_only : refusal_}, now);
  of(id).has_used_tables = true;
  std::vector<row_key> rows = rows_of(statement);
  const locking how = locking_of(statement);
  const bool needs_right = is_read_only_ && are_users_restricted_;
  if (needs_right && how.locks && !how.is_shared) return reply(id, {.error = read_only}, now);
  session& c = of(id);
  if (reads(statement) && how.locks && refuses_lock(c, rows)) return refuse_row(id, refusal_, now);
  if (const unsigned error = drawn_error(id, rows)) return refuse_row(id, error, now);
  if (!is_locked_for(id, rows, how.is_shared))
    return reply(id, run_tables(id, statement, began, rows), now);
  if (how.skips) return reply(id, {}, now);
  if (how.never_waits) return reply(id, {.error = lock_wait_timeout}, now);
  c.waits = wait{.statement = statement,
                 .rows = std::move(rows),
                 .began = began,
                 .ends = now + (how.most_s ? *how.most_s * us_per_s : c.row_wait_of_statement),
                 .is_shared = how.is_shared};
  waiting_.push_back(id);
  if (!is_deadlocked(id)) return;
  waiting_.pop_back();
  refuse_row(id, deadlock, now);
}

// The victim of a deadlock loses its transaction; one that has waited for too long keeps it.
void model_mariadb::refuse_row(std::uint64_t id, unsigned error, time_us now) {
  if (error == deadlock) end_transaction(of(id), false);
  reply(id, {.error = error}, now);
}

// A lock of a row that a client waits for by its transaction alone. The transaction that has it
// already waits for nothing.
bool model_mariadb::refuses_lock(const session& c, const std::vector<row_key>& rows) const {
  const bool may_be = refusal_ == deadlock || refusal_ == query_interrupted;
  return c.is_read_committed && may_be &&
         std::ranges::none_of(rows, [&](const row_key& k) { return c.locked.contains(k); });
}

bool model_mariadb::run_session(std::uint64_t id, std::string_view statement, time_us now) {
  session& c = of(id);
  model_reply out;
  if (begins(statement, "SET SESSION")) {
    set_variables(c, statement);
  } else if (begins(statement, "SHOW VARIABLES")) {
    out = variables(c);
  } else if (begins(statement, "SELECT UUID_SHORT()>>24,CONNECTION_ID()")) {
    out = one_row({std::to_string(draw_number() >> 24), std::to_string(id), c.address});
  } else if (begins(statement, "SELECT ID,HOST FROM information_schema.PROCESSLIST")) {
    out = listed(id, statement);
  } else if (begins(statement, "SELECT 1/*M! AND @@in_transaction*/,UUID_SHORT(),@@read_only")) {
    out = transaction_of(c);
  } else if (begins(statement, "SELECT @@read_only")) {
    out = one_row({is_read_only_ ? "1" : "0"});
  } else if (statement == "SET TRANSACTION ISOLATION LEVEL READ COMMITTED") {
    c.is_next_read_committed = true;
  } else if (begins(statement, "START TRANSACTION")) {
    const bool is_next = c.is_next_read_committed;
    end_transaction(c, true);
    c.is_in_transaction = true;
    c.is_next_read_committed = is_next;
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
  if (statement.ends_with("READ COMMITTED")) c.is_read_committed = true;
  if (const auto on = assigned(spaced, "autocommit")) c.commits = *on != 0;
  if (const auto s = assigned(spaced, "innodb_lock_wait_timeout")) c.row_wait = *s * us_per_s;
  if (const auto s = assigned(spaced, "wait_timeout")) c.idle_timeout = *s * us_per_s;
}

model_reply model_mariadb::variables(const session& c) const {
  model_reply out;
  out.rows = {{"max_connections", "151"},
              {"read_only", is_read_only_ ? "ON" : "OFF"},
              {"server_id", std::to_string(number_)},
              {"wait_timeout", std::to_string(c.idle_timeout / us_per_s)}};
  return out;
}

// Those with the ids of ... ID IN (id,CONNECTION_ID()).
model_reply model_mariadb::listed(std::uint64_t by, std::string_view statement) const {
  std::uint64_t whom = 0;
  std::from_chars(&statement[statement.find('(') + 1], statement.data() + statement.size(), whom);
  model_reply out;
  for (const auto& [id, c] : sessions_)
    if (id == by || id == whom) out.rows.push_back({std::to_string(id), c.address});
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
    reply(id, one_row({is_mine, number_under(lock), number_text(is_read_only_)}), now);
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

// UUID_SHORT()
std::int64_t model_mariadb::draw_number() {
  return (std::int64_t{number_} << 56) + (started_ / us_per_s << 24) + ++numbers_drawn_;
}

std::string model_mariadb::number_under(const std::string& lock) {
  const std::int64_t number = draw_number();
  if (const auto* const r = named_.holder(lock))
    numbered_[static_cast<std::uint64_t>(number)] = r->serial;
  return std::to_string(number);
}

// In place of UUID_SHORT(),@@read_only: a number that is drawn under the lock of the row.
std::string model_mariadb::with_number(const session& c, std::string statement,
                                       const std::vector<row_key>& rows) {
  constexpr std::string_view call = "UUID_SHORT(),@@read_only";
  const auto at = statement.find(call);
  if (at == statement.npos) return statement;
  const std::int64_t number = draw_number();
  const auto found = rows.empty() ? c.locked.end() : c.locked.find(rows.front());
  if (found != c.locked.end()) numbered_[static_cast<std::uint64_t>(number)] = found->second.serial;
  return statement.replace(at, call.size(),
                           std::to_string(number) + ',' + number_text(is_read_only_));
}

// @@in_transaction, and a number, which is drawn under the lock of the row if the session has one.
model_reply model_mariadb::transaction_of(const session& c) {
  const std::int64_t number = draw_number();
  if (!c.locked.empty())
    numbered_[static_cast<std::uint64_t>(number)] = c.locked.begin()->second.serial;
  const bool is_in_one = c.is_in_transaction || (!c.commits && c.has_used_tables);
  return one_row({number_text(is_in_one), std::to_string(number), number_text(is_read_only_)});
}

// GET_LOCK(name,seconds), and perhaps UUID_SHORT(),@@read_only.
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
  if (of(id).waits->is_numbered) {
    row.emplace_back(number_under(of(id).waits->lock));
    row.emplace_back(number_text(is_read_only_));
  }
  reply(id, one_row(std::move(row)), now);
}

// Tables and their rows.

model_reply model_mariadb::run_tables(std::uint64_t id, const std::string& statement, time_us began,
                                      const std::vector<row_key>& rows) {
  session& c = of(id);
  const bool is_read = reads(statement);
  const locking how = locking_of(statement);
  if (!how.locks) return read(id, statement, began);
  const bool keeps = c.is_in_transaction || !c.commits;
  const bool is_locked_now =
      std::ranges::none_of(rows, [&](const row_key& k) { return c.locked.contains(k); });
  if (keeps) {
    lock_rows(c, rows, how.is_shared);
    c.has_written = c.has_written || !is_read;
  } else if (!is_read) {
    ++changes_;
  }
  model_reply out = model_tables(tables_).execute(with_number(c, statement, rows), began);
  if (c.is_next_read_committed && !is_read && out.affected == 0 && is_locked_now)
    for (const row_key& k : rows) c.locked.erase(k);
  return out;
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
  for (const auto& each : c.locked) {
    const auto& [table, name] = each.first;
    const auto found = to.find(table);
    if (found == to.end()) continue;
    std::vector<sql_cells>& all = found->second.rows;
    const sql_cell mine = text_cell(name);
    const std::size_t column = found->second.column("name");
    std::erase_if(all, [&](const sql_cells& row) { return row[column] == mine; });
    all.insert(all.end(), each.second.before.begin(), each.second.before.end());
  }
}

void model_mariadb::end_transaction(session& c, bool commits) {
  if (!commits && c.has_written) put_back(c, tables_);
  if (commits && c.has_written) ++changes_;
  c.locked.clear();
  c.snapshot.reset();
  c.has_written = c.is_in_transaction = c.is_next_read_committed = c.has_used_tables = false;
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

// COMMIT of a transaction that has written is refused too: such a connection ends at once.
void model_mariadb::set_replica(bool is) {
  is_read_only_ = is_replica_ = is;
  std::vector<std::uint64_t> writers;
  for (const auto& [id, c] : sessions_)
    if (is && c.has_written) writers.push_back(id);
  for (const std::uint64_t id : writers) end(id, true);
}

void model_mariadb::start_after(const model_mariadb& other) noexcept {
  started_ = std::max(started_, other.started_ + us_per_s);
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
    if (is_locked_for(id, w.rows, w.is_shared)) continue;
    waiting_.remove(id);
    const bool is_refused = is_replica_ && !reads(w.statement);
    reply(id,
          is_refused ? model_reply{.error = read_only}
                     : run_tables(id, w.statement, w.began, w.rows),
          now);
    return true;
  }
  return false;
}

}  // namespace holdfast::sim
