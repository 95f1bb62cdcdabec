// A write that no earlier holder can undo: the row keeps the token of the last holder that wrote
// it, and the statement refuses a smaller one. docs/getting-started.md explains it.
//
//   fenced_row [URL [DATABASE]]
#include <holdfast/holdfast.hpp>

#include <sqlite3.h>

#include <cstdint>
#include <cstdio>
#include <exception>
#include <stdexcept>

namespace hf = holdfast;

class accounts {
 public:
  explicit accounts(const char* file) {
    check(sqlite3_open(file, &db_));
    check(sqlite3_exec(db_,
                       "CREATE TABLE IF NOT EXISTS accounts (id INTEGER PRIMARY KEY,"
                       " cents INTEGER NOT NULL, token INTEGER NOT NULL DEFAULT 0);"
                       "INSERT OR IGNORE INTO accounts (id, cents) VALUES (7, 0);",
                       nullptr, nullptr, nullptr));
    check(sqlite3_prepare_v2(db_,
                             "UPDATE accounts SET cents = cents + ?1, token = ?2"
                             " WHERE id = 7 AND token <= ?2",
                             -1, &add_, nullptr));
  }
  ~accounts() {
    sqlite3_finalize(add_);
    sqlite3_close(db_);
  }
  accounts(const accounts&) = delete;
  accounts& operator=(const accounts&) = delete;

  // False when a later holder has written the row: nothing is changed then.
  bool add(int cents, std::int64_t token) {
    check(sqlite3_reset(add_));
    check(sqlite3_bind_int(add_, 1, cents));
    check(sqlite3_bind_int64(add_, 2, token));
    if (sqlite3_step(add_) != SQLITE_DONE) throw std::runtime_error(sqlite3_errmsg(db_));
    return sqlite3_changes(db_) == 1;
  }

 private:
  void check(int result) const {
    if (result != SQLITE_OK) throw std::runtime_error(sqlite3_errmsg(db_));
  }
  sqlite3* db_ = nullptr;
  sqlite3_stmt* add_ = nullptr;
};

int main(int argc, char** argv) try {
  const auto client = hf::client::open(argc > 1 ? argv[1] : "");  // one for the whole process
  const auto lock = client.mutex("accounts/7");
  accounts table(argc > 2 ? argv[2] : ":memory:");

  hf::lease lease = lock.acquire({.note = "interest"});
  const auto token = lease.token();
  const bool written = table.add(100, token);
  lease.release();

  // The next holder writes. Had the first one been stopped before its write, that would come now.
  const hf::lease next = lock.acquire({.note = "interest"});
  const bool written_next = table.add(100, next.token());
  const bool written_late = table.add(100, token);
  std::printf("first %d, next %d, late %d\n", written, written_next, written_late);
  return written && written_next && !written_late ? 0 : 1;
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
