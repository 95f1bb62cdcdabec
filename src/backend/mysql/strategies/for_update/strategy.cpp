#include "backend/mysql/strategies/for_update/strategy.hpp"

#include <utility>

#include "backend/mysql/strategies/for_update/queries.hpp"
#include "backend/mysql/transport/error_text.hpp"

namespace holdfast::mysql::for_update {

strategy::strategy(base::environment& env, const settings& s)
    : pinned::strategy(env, s, texts_), texts_(s.table, s.prefix) {}

void strategy::holders(std::string_view name, seam::holders_handler& to) {
  start_holders_query(over(), texts_.probes(texts_.key_of(name)), name, to);
}

void strategy::on_ready(time_point now, event_queue&) {
  over().submit(lane::commands, texts_.describe_table(), opening_, now);
}

void strategy::on_table(const sql_reply& r, const reply_context& context) {
  if (creates_ && !has_created_) {
    has_created_ = true;
    if (r.is_ok())
      return over().submit(lane::commands, texts_.describe_table(), opening_, context.now);
    opened_ =
        failure{errc::refused, "the table " + terms().table + " cannot be created (" + r.text +
                                   "); have it created with: " + texts_.create_table()};
    return;
  }
  if (!r.is_ok()) {
    opened_ = explain(r.error, r.text);
  } else if (r.rows.empty() && !creates_) {
    creates_ = true;
    over().submit(lane::commands, texts_.create_table(), opening_, context.now);
  } else {
    opened_ = fault_of(r);
  }
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
