#include "backend/mysql/diagnosis/diagnosis.hpp"

#include <string>
#include <utility>
#include <vector>

#include "backend/mysql/diagnosis/findings.hpp"
#include "backend/mysql/strategies/sql_query.hpp"

namespace holdfast::mysql {

namespace {

constexpr const char* variables_query =
    "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('version', 'read_only', "
    "'innodb_flush_log_at_trx_commit', 'rpl_semi_sync_master_enabled', "
    "'rpl_semi_sync_master_wait_point')";

class diagnosis final : public sql_query<std::vector<finding>> {
 public:
  diagnosis(transport& t, seam::findings_handler& to) noexcept : sql_query(t, to) {}

 private:
  bool read(const sql_reply& r, std::string&) override {
    variables all;
    for (std::size_t i = 0; i < r.rows.size(); ++i) all.emplace(r.cell(i, 0), r.cell(i, 1));
    result = findings_of(all);
    return false;
  }
};

}  // namespace

void start_diagnosis(transport& over, const settings&, seam::findings_handler& to) {
  (new diagnosis(over, to))->start(variables_query);
}

}  // namespace holdfast::mysql
