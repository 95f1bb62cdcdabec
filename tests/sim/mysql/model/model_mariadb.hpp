// A model of MariaDB: connections that execute one statement at a time, transactions and the rows
// that they keep locked, and named locks. Of the strategies' statements it knows all; one that it
// does not know is an error of the model, never a reply.
//
// Simpler than the server: rows are locked by the first column of their primary key, `name`, all
// rows of one name of a table together, and are granted in the order of the requests; there are no
// gaps between rows. The victim of a deadlock is the transaction whose wait would close the cycle.
// READ COMMITTED locks no row that does not exist, nor one that a statement does not change.
#pragma once
#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/sim/mysql/model/model_tables.hpp"
#include "tests/sim/mysql/model/named_locks.hpp"

namespace holdfast::sim {

// Called from inside the calls of the model, which it may not call back.
class mariadb_listener {
 public:
  virtual void on_reply(std::uint64_t connection, const model_reply&) = 0;
  virtual void on_closed(std::uint64_t connection) = 0;  // by the server; nothing follows

 protected:
  ~mariadb_listener() = default;
};

class model_mariadb {
 public:
  using time_us = std::int64_t;
  static constexpr time_us never = INT64_MAX;

  // `wall`: the server's clock, since 1970. All other times are of one that nobody sets. It was
  // started a while ago. `number`: its server_id, from 1.
  model_mariadb(mariadb_listener& l, std::function<time_us()> wall, int number = 1)
      : listener_(l),
        wall_(std::move(wall)),
        number_(number),
        started_(wall_() - 1'000'000'000),
        named_(first_serial(number)),
        row_locks_made_(first_serial(number)) {}

  std::uint64_t connect(time_us now);  // an id, from 1; they begin again after a restart
  // The reply follows, at once or later. Of several statements, a line each, up to the first error
  // a reply to each. Throws unknown_sql.
  void execute(std::uint64_t connection, std::string_view statements, time_us now);
  // A statement that waits is executed all the same, some time.
  void disconnect(std::uint64_t connection);
  void restart();  // killed, and started again; tables are kept, connections are not
  void save() { saved_ = committed(); }
  void restart_from_saved();  // likewise, with the rows of the last save()
  // Ends the waits whose time is over, and the connections that were idle for too long.
  void advance(time_us now);
  time_us next() const;  // when to call it; never: not at all
  // Statements that may have got what they waited for. True: one was executed, and there may be
  // another.
  bool go_on(time_us now);

  bool is_connected(std::uint64_t connection) const { return sessions_.contains(connection); }
  void set_read_only(bool is) noexcept { is_read_only_ = is; }
  // To each statement that changes a table; 0: none.
  void refuse_writes(unsigned error) noexcept { refusal_ = error; }
  bool has_killed() const noexcept { return !dying_.empty(); }
  // Called for each statement that locks a row, while no row of it is its transaction's: an error
  // in place of the lock, or 0.
  void draw_errors(std::function<unsigned(std::uint64_t connection)> draw) {
    draw_error_ = std::move(draw);
  }
  void end_killed();  // connections: KILL does not wait for their end

  // For a primary and its replica.
  void set_replica(bool is);  // read-only, even for what clients have begun
  // Users have no right READ ONLY ADMIN: a read-only server refuses SELECT ... FOR UPDATE.
  void restrict_users() noexcept { are_users_restricted_ = true; }
  void start_after(const model_mariadb& other) noexcept;  // by the seconds in their UUID_SHORT()
  // Grows with each commit.
  std::uint64_t changes() const noexcept { return changes_; }
  sql_tables data() const { return committed(); }
  void load(sql_tables data) { tables_ = std::move(data); }

  void make_table(const std::string& statement) { model_tables(tables_).execute(statement, 0); }
  struct row_holder {
    std::uint64_t connection = 0;
    std::uint64_t serial = 0;  // of its lock; never used twice
    bool is_shared = false;
  };
  // Whose transactions have locked it.
  std::vector<row_holder> holders_of_row(const std::string& table, const std::string& name) const;
  bool has_locked_row(std::uint64_t connection) const;
  std::vector<std::string> locked_rows() const;                                      // names
  std::uint64_t locks_row(const std::string& table, const std::string& name) const;  // 0: none does
  bool awaits_row(const std::string& name) const {  // a statement, which locks it
    return std::ranges::any_of(waiting_, [&](std::uint64_t id) {
      return std::ranges::count(sessions_.at(id).waits->rows, name, &row_key::second) > 0;
    });
  }
  bool has_transaction() const;  // that has written something
  // As it was committed.
  const sql_table* table(const std::string& name);
  const named_locks& locks() const noexcept { return named_; }
  // The GET_LOCK, or the lock of a row, by which a lock was held when UUID_SHORT() gave a number:
  // serials, by the number.
  const std::map<std::uint64_t, std::uint64_t>& numbered() const noexcept { return numbered_; }

 private:
  static constexpr std::uint64_t serials_of_each = 1'000'000'000'000;
  static constexpr std::uint64_t first_serial(int number) noexcept {
    return static_cast<std::uint64_t>(number - 1) * serials_of_each;
  }
  using row_key = std::pair<std::string, std::string>;  // a table, and a name in it
  struct wait {
    std::string statement;  // to be executed again; empty: for a named lock
    std::vector<row_key> rows{};
    time_us began = 0;  // by the server's clock
    time_us ends = never;
    bool is_shared = false;  // it locks the rows together with others
    std::string lock;        // named
    bool is_numbered = false;
    std::optional<std::string> owner_before{};  // to be shown first; empty: nobody
    bool shows_owner = false;
  };
  struct row_lock {
    bool is_shared = false;
    std::uint64_t serial = 0;
    std::vector<sql_cells> before{};  // its rows, as they were when it was locked
  };
  struct session {
    std::string address;
    bool commits = true;  // each statement
    bool is_read_committed = false;
    bool is_next_read_committed = false;  // the next transaction, or the present one
    bool is_in_transaction = false;
    bool has_used_tables = false;  // since the last transaction ended
    bool has_left = false;         // the client
    bool is_busy = false;
    std::deque<std::string> next;  // statements of the same text
    time_us row_wait = 50'000'000, row_wait_of_statement = row_wait, idle_timeout = 28'800'000'000,
            idle_since = 0;
    std::map<row_key, row_lock> locked;
    bool has_written = false;
    std::optional<sql_tables> snapshot;  // since its first read without a lock
    std::optional<wait> waits;
  };

  session& of(std::uint64_t id) { return sessions_.at(id); }
  void reply(std::uint64_t id, const model_reply&, time_us now);
  void run_next(std::uint64_t id, time_us now);
  void run(std::uint64_t id, const std::string& statement, time_us began, time_us now);
  bool run_session(std::uint64_t id, std::string_view statement, time_us now);
  bool run_named(std::uint64_t id, const std::string& statement, time_us now);
  void get_lock(std::uint64_t id, sql_words&, const wait& as, time_us now);
  void kill(std::uint64_t by, std::uint64_t whom, time_us now);
  model_reply listed(std::uint64_t by, std::string_view statement) const;
  void set_variables(session&, std::string_view statement);
  model_reply variables(const session&) const;
  std::int64_t draw_number();
  std::string number_under(const std::string& lock);
  model_reply transaction_of(const session&);
  std::string with_number(const session&, std::string statement, const std::vector<row_key>&);
  bool refuses_lock(const session&, const std::vector<row_key>&) const;
  void finish_named(std::uint64_t id, bool granted, time_us now);
  static std::vector<row_key> rows_of(const std::string& statement);
  bool is_locked_for(std::uint64_t id, const std::vector<row_key>&, bool is_shared) const;
  std::vector<std::uint64_t> blockers_of(std::uint64_t id, const std::vector<row_key>&,
                                         bool is_shared) const;
  bool is_deadlocked(std::uint64_t id) const;
  unsigned drawn_error(std::uint64_t id, const std::vector<row_key>&) const;
  void refuse_row(std::uint64_t id, unsigned error, time_us now);
  void lock_rows(session&, const std::vector<row_key>&, bool is_shared);
  model_reply run_tables(std::uint64_t id, const std::string& statement, time_us began,
                         const std::vector<row_key>&);
  model_reply read(std::uint64_t id, const std::string& statement, time_us began);
  sql_tables committed(const session* but = nullptr) const;
  void end_transaction(session&, bool commits);
  static void put_back(const session&, sql_tables&);
  void end(std::uint64_t id, bool is_told);

  mariadb_listener& listener_;
  const std::function<time_us()> wall_;
  const int number_;
  time_us started_;  // by the server's clock
  sql_tables tables_;
  named_locks named_;
  std::map<std::uint64_t, session> sessions_;
  std::vector<std::uint64_t> dying_;
  std::list<std::uint64_t> waiting_;  // for rows, in the order of their statements
  std::uint64_t last_id_ = 0;
  int last_port_ = 0;               // of a client
  std::int64_t numbers_drawn_ = 0;  // by UUID_SHORT()
  std::uint64_t row_locks_made_;
  std::map<std::uint64_t, std::uint64_t> numbered_;
  bool is_read_only_ = false, is_replica_ = false, are_users_restricted_ = false;
  unsigned refusal_ = 0;
  std::function<unsigned(std::uint64_t)> draw_error_;
  std::uint64_t changes_ = 0;
  std::optional<sql_tables> shown_;
  sql_tables saved_;
};

}  // namespace holdfast::sim
