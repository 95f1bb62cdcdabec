#include "backend/mysql/diagnosis/diagnosis.hpp"

#include <string>
#include <string_view>
#include <vector>

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
  bool read(const sql_reply& r, sql_statement&) override {
    variables all;
    for (std::size_t i = 0; i < r.rows.size(); ++i) all.emplace(r.cell(i, 0), r.cell(i, 1));
    result = findings_of(all);
    return false;
  }
};

constexpr std::string_view not_known = "not known: the server does not report it";

std::string_view value_of(const variables& all, std::string_view name) {
  const auto found = all.find(name);
  return found == all.end() ? std::string_view() : std::string_view(found->second);
}

finding server_of(const variables& all) {
  const std::string_view version = value_of(all, "version");
  if (version.empty()) return {"server", finding_grade::warn, std::string(not_known), ""};
  if (version.find("MariaDB") != version.npos)
    return {"server", finding_grade::good, std::string(version), ""};
  return {"server", finding_grade::warn,
          std::string(version) + " is not MariaDB; this library is tested with MariaDB 10.11 only",
          ""};
}

finding writability_of(const variables& all) {
  const std::string_view value = value_of(all, "read_only");
  if (value == "OFF" || value == "0")
    return {"read_only", finding_grade::good, "the server accepts writes", ""};
  return {"read_only", finding_grade::bad, "the server is read-only, as a replica is",
          "name the primary in the URL"};
}

finding durability_of(const variables& all) {
  const std::string_view value = value_of(all, "innodb_flush_log_at_trx_commit");
  if (value.empty()) return {"durability", finding_grade::warn, std::string(not_known), ""};
  if (value == "1")
    return {"durability", finding_grade::good, "each grant is on disk before it is confirmed", ""};
  if (value == "2")
    return {"durability", finding_grade::warn,
            "a crash of the machine loses the grants of the last second; a crash of the server "
            "alone loses none",
            "set innodb_flush_log_at_trx_commit=1"};
  return {"durability", finding_grade::bad,
          "a crash of the server loses grants and tokens of the last second: locks are granted "
          "twice, and tokens repeat",
          "set innodb_flush_log_at_trx_commit=1"};
}

finding replication_of(const variables& all) {
  const std::string_view enabled = value_of(all, "rpl_semi_sync_master_enabled");
  const std::string_view point = value_of(all, "rpl_semi_sync_master_wait_point");
  if (enabled != "ON" && enabled != "1")
    return {"replication", finding_grade::warn,
            "semi-synchronous replication is off: a promoted replica may lack the last grants",
            "if a replica may be promoted, set rpl_semi_sync_master_enabled=ON"};
  if (point != "AFTER_SYNC")
    return {"replication", finding_grade::warn, "other clients see a grant before a replica has it",
            "set rpl_semi_sync_master_wait_point=AFTER_SYNC"};
  return {"replication", finding_grade::good, "a replica has each grant before it is confirmed",
          ""};
}

}  // namespace

std::vector<finding> findings_of(const variables& all) {
  return {server_of(all), writability_of(all), durability_of(all), replication_of(all)};
}

void start_diagnosis(transport& over, const settings&, seam::findings_handler& to) {
  (new diagnosis(over, to))->start(variables_query);
}

}  // namespace holdfast::mysql
