#include "backend/mysql/strategies/for_update/queries.hpp"

#include <utility>
#include <vector>

#include "backend/mysql/strategies/sql_query.hpp"

namespace holdfast::mysql::for_update {

namespace {

// The row is read, then locked by two statements in turn, each of which skips a row that another
// connection has locked: for a writer, and for a reader.
class holders_query final : public sql_query<std::vector<holder>> {
 public:
  holders_query(transport& t, row_probes probes, std::string_view name, seam::holders_handler& to)
      : sql_query(t, to), probes_(std::move(probes)), name_(name) {}

 private:
  bool read(const sql_reply& r, std::string& next) override {
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

void start_holders_query(transport& over, row_probes probes, std::string_view name,
                         seam::holders_handler& to) {
  std::string first = probes.read;
  (new holders_query(over, std::move(probes), name, to))->start(std::move(first));
}

}  // namespace holdfast::mysql::for_update
