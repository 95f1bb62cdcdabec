// A row that no earlier holder of a lock can change. The row keeps the token of the last holder
// that read or wrote it, and its statements refuse a smaller one. docs/getting-started.md explains
// it.
//
//   fenced_row [URL [DATABASE]]
#include <holdfast/holdfast.hpp>

#include <sqlite3.h>

#include <cstdint>
#include <cstdio>
#include <exception>
#include <optional>
#include <stdexcept>

namespace hf = holdfast;

class accounts {
 public:
  explicit accounts(const char* file) {
    check(sqlite3_open(file, &db_));
    check(sqlite3_exec(db_,
                       "CREATE TABLE IF NOT EXISTS accounts (id INTEGER PRIMARY KEY,"
                       " cents INTEGER NOT NULL, token INTEGER NOT NULL DEFAULT 0);"
                       "INSERT OR IGNORE INTO accounts (id, cents) VALUES (7, 10000);",
                       nullptr, nullptr, nullptr));
    prepare("UPDATE accounts SET token = ?1 WHERE id = 7 AND token <= ?1", present_);
    prepare("SELECT cents FROM accounts WHERE id = 7 AND token = ?1", select_);
    prepare("UPDATE accounts SET cents = ?2, token = ?1 WHERE id = 7 AND token <= ?1", update_);
  }
  ~accounts() {
    for (sqlite3_stmt* statement : {present_, select_, update_}) sqlite3_finalize(statement);
    sqlite3_close(db_);
  }
  accounts(const accounts&) = delete;
  accounts& operator=(const accounts&) = delete;

  // Empty when a later holder has read or written the row.
  std::optional<int> read(std::int64_t token) {
    if (!changes(present_, token)) return std::nullopt;
    check(sqlite3_reset(select_));
    check(sqlite3_bind_int64(select_, 1, token));
    if (sqlite3_step(select_) != SQLITE_ROW) return std::nullopt;
    const int cents = sqlite3_column_int(select_, 0);
    check(sqlite3_reset(select_));  // ends the read transaction
    return cents;
  }

  // False when a later holder has read or written the row: nothing is changed then.
  bool write(int cents, std::int64_t token) {
    check(sqlite3_reset(update_));
    check(sqlite3_bind_int(update_, 2, cents));
    return changes(update_, token);
  }

 private:
  void prepare(const char* text, sqlite3_stmt*& statement) {
    check(sqlite3_prepare_v2(db_, text, -1, &statement, nullptr));
  }
  bool changes(sqlite3_stmt* statement, std::int64_t token) {
    check(sqlite3_reset(statement));
    check(sqlite3_bind_int64(statement, 1, token));
    if (sqlite3_step(statement) != SQLITE_DONE) throw std::runtime_error(sqlite3_errmsg(db_));
    return sqlite3_changes(db_) == 1;
  }
  void check(int result) const {
    if (result != SQLITE_OK) throw std::runtime_error(sqlite3_errmsg(db_));
  }
  sqlite3* db_ = nullptr;
  sqlite3_stmt *present_ = nullptr, *select_ = nullptr, *update_ = nullptr;
};

int with_interest(int cents) { return cents + cents / 100; }

int main(int argc, char** argv) try {
  const auto client = hf::client::open(argc > 1 ? argv[1] : "file:");  // one for the whole process
  const auto lock = client.mutex("accounts/7");
  accounts table(argc > 2 ? argv[2] : ":memory:");

  hf::lease lease = lock.acquire({.note = "interest"});
  const auto token = lease.token();
  const auto cents = table.read(token);
  lease.release();  // stands for a program that is stopped here until its lease has expired

  // The next holder reads. Then the first one goes on, and its write arrives before the next one's.
  const hf::lease next = lock.acquire({.note = "interest"});
  const auto cents_next = table.read(next.token());
  if (!cents || !cents_next) return 1;
  const bool late = table.write(with_interest(*cents), token);
  const bool written = table.write(with_interest(*cents_next), next.token());
  std::printf("late %d, next %d\n", late, written);
  return written && !late ? 0 : 1;
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
