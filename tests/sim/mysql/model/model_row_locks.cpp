// The model of MariaDB: rows that transactions have locked, and statements that wait for them.
#include <algorithm>

#include "tests/sim/mysql/model/locking.hpp"
#include "tests/sim/mysql/model/model_mariadb.hpp"

namespace holdfast::sim {

// That a statement with locks looks at: the names that it compares `name` with, or inserts.
std::vector<model_mariadb::row_key> model_mariadb::rows_of(const std::string& statement) {
  if (!locking_of(statement).locks || statement.starts_with("CREATE")) return {};
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

// By another transaction; or a statement has waited for it for longer. Those that share it do not
// keep each other out.
bool model_mariadb::is_locked_for(std::uint64_t id, const std::vector<row_key>& rows,
                                  bool is_shared) const {
  const session& mine = sessions_.at(id);
  return std::ranges::any_of(rows, [&](const row_key& k) {
    const auto own = mine.locked.find(k);
    if (own != mine.locked.end() && (is_shared || !own->second.is_shared)) return false;
    for (const auto& [other, c] : sessions_) {
      const auto theirs = c.locked.find(k);
      const bool has_it = other != id && theirs != c.locked.end();
      if (has_it && !(is_shared && theirs->second.is_shared)) return true;
    }
    for (const std::uint64_t other : waiting_) {
      if (other == id) return false;
      const wait& theirs = *sessions_.at(other).waits;
      const bool wants_it = std::ranges::find(theirs.rows, k) != theirs.rows.end();
      if (wants_it && !(is_shared && theirs.is_shared)) return true;
    }
    return false;
  });
}

void model_mariadb::lock_rows(session& c, const std::vector<row_key>& rows, bool is_shared) {
  for (const row_key& k : rows) {
    if (const auto own = c.locked.find(k); own != c.locked.end()) {
      own->second.is_shared = own->second.is_shared && is_shared;
      continue;
    }
    row_lock made{.is_shared = is_shared};
    if (const auto found = tables_.find(k.first); found != tables_.end()) {
      const std::size_t column = found->second.column("name");
      for (const sql_cells& row : found->second.rows)
        if (row[column].bytes == k.second) made.before.push_back(row);
    }
    if (c.is_read_committed && made.before.empty()) continue;
    made.serial = ++row_locks_made_;
    c.locked.emplace(k, std::move(made));
  }
}

// The sessions that keep this one from these rows. InnoDB locks several rows of a statement one
// after the other: one that waits for several is not queued for all of them.
std::vector<std::uint64_t> model_mariadb::blockers_of(std::uint64_t id,
                                                      const std::vector<row_key>& rows,
                                                      bool is_shared) const {
  const session& mine = sessions_.at(id);
  std::vector<std::uint64_t> out;
  for (const row_key& k : rows) {
    const auto own = mine.locked.find(k);
    if (own != mine.locked.end() && (is_shared || !own->second.is_shared)) continue;
    for (const auto& [other, c] : sessions_) {
      const auto theirs = c.locked.find(k);
      const bool has_it = other != id && theirs != c.locked.end();
      if (has_it && !(is_shared && theirs->second.is_shared)) out.push_back(other);
    }
    for (const std::uint64_t other : waiting_) {
      if (other == id) break;
      const wait& theirs = *sessions_.at(other).waits;
      const bool wants_it = theirs.rows.size() == 1 && theirs.rows.front() == k;
      if (wants_it && !(is_shared && theirs.is_shared)) out.push_back(other);
    }
  }
  return out;
}

// It waits for a session that waits for it, perhaps through others.
bool model_mariadb::is_deadlocked(std::uint64_t id) const {
  std::set<std::uint64_t> seen;
  std::vector<std::uint64_t> left{id};
  while (!left.empty()) {
    const std::uint64_t next = left.back();
    left.pop_back();
    const std::optional<wait>& waits = sessions_.at(next).waits;
    if (!waits) continue;
    for (const std::uint64_t other : blockers_of(next, waits->rows, waits->is_shared)) {
      if (other == id) return true;
      if (seen.insert(other).second) left.push_back(other);
    }
  }
  return false;
}

// A statement whose transaction has locked one of its rows before waits for nothing.
unsigned model_mariadb::drawn_error(std::uint64_t id, const std::vector<row_key>& rows) const {
  if (!draw_error_ || rows.empty()) return 0;
  const session& mine = sessions_.at(id);
  const bool has_one =
      std::ranges::any_of(rows, [&](const row_key& k) { return mine.locked.contains(k); });
  return has_one ? 0 : draw_error_(id);
}

std::uint64_t model_mariadb::locks_row(const std::string& table, const std::string& name) const {
  for (const auto& [id, c] : sessions_)
    if (c.locked.contains({table, name})) return id;
  return 0;
}

std::vector<model_mariadb::row_holder> model_mariadb::holders_of_row(
    const std::string& table, const std::string& name) const {
  std::vector<row_holder> out;
  for (const auto& [id, c] : sessions_)
    if (const auto found = c.locked.find({table, name}); found != c.locked.end())
      out.push_back({id, found->second.serial, found->second.is_shared});
  return out;
}

bool model_mariadb::has_locked_row(std::uint64_t connection) const {
  const auto found = sessions_.find(connection);
  return found != sessions_.end() && !found->second.locked.empty();
}

std::vector<std::string> model_mariadb::locked_rows() const {
  std::vector<std::string> out;
  for (const auto& [id, c] : sessions_)
    for (const auto& [row, lock] : c.locked) out.push_back(row.second);
  return out;
}

}  // namespace holdfast::sim
