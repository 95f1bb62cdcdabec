#include "backend/mysql/strategies/for_update/strategy.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/mysql/strategies/sql_query.hpp"
#include "backend/mysql/transport/error_text.hpp"

namespace holdfast::mysql::for_update {

namespace {

// The server does not report which connection has locked a row. The row is read, then locked by two
// statements in turn, each of which skips a row that another connection has locked: for a writer,
// and for a reader.
class holders_query final : public sql_query<std::vector<holder>> {
 public:
  holders_query(transport& t, row_probes probes, std::string_view name, seam::holders_handler& to)
      : sql_query(t, to), probes_(std::move(probes)), name_(name) {}

 private:
  bool read(const sql_reply& r, sql_statement& next) override {
    const bool is_found = !r.rows.empty();
    switch (step_++) {
      case 0: next = probes_.as_writer; return is_found;
      case 1: next = probes_.as_reader; return !is_found;
      default: break;
    }
    holder& h = result.emplace_back();
    h.name = name_;
    h.owner = "unknown";
    h.mode = is_found ? lock_mode::shared : lock_mode::exclusive;
    h.waiting = -1;
    return false;
  }

  const row_probes probes_;
  const std::string name_;
  unsigned step_ = 0;
};

}  // namespace

strategy::strategy(base::environment& env, const settings& s)
    : pinned::strategy(env, s, texts_), texts_(s.table, s.prefix) {}

void strategy::holders(std::string_view name, seam::holders_handler& to) {
  row_probes probes = texts_.probes(texts_.key_of(name));
  std::string first = probes.read;
  (new holders_query(over(), std::move(probes), name, to))->start(std::move(first));
}

void strategy::on_ready(time_point now, event_queue&) {
  send_opening(texts_.describe_table(), now);
}

void strategy::on_opening_reply(const sql_reply& r, const reply_context& context) {
  if (creates_ && !has_created_) {
    has_created_ = true;
    if (r.is_ok()) return send_opening(texts_.describe_table(), context.now);
    return finish_opening({errc::refused, "the table " + terms().table + " cannot be created (" +
                                              r.text +
                                              "); have it created with: " + texts_.create_table()});
  }
  if (!r.is_ok()) return finish_opening(explain(r.error, r.text));
  if (!r.rows.empty() || creates_) return finish_opening(fault_of(r));
  creates_ = true;
  send_opening(texts_.create_table(), context.now);
}

// Another engine locks nothing for FOR UPDATE; a row that is not found by its primary key is found
// by reading, and locking, all rows.
failure strategy::fault_of(const sql_reply& description) const {
  if (description.cell(0, 0) == "InnoDB" && description.cell(0, 1) == key_of_table) return {};
  return {errc::mismatch, "the table " + terms().table +
                              " is not one for row locks (engine InnoDB, primary key: name, of "
                              "type VARBINARY); name another table with ?table="};
}

}  // namespace holdfast::mysql::for_update
