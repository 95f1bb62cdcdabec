
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/mysql/diagnosis/diagnosis.hpp"
#include "tests/unit/backend/mysql/server_fixture.hpp"

namespace holdfast::mysql_unit {
namespace {

finding finding_on(std::string_view aspect, const mysql::variables& all) {
  for (const finding& f : mysql::findings_of(all))
    if (f.what == aspect) return f;
  ADD_FAILURE() << "there is no finding on " << aspect;
  return {};
}

finding_grade grade_on(std::string_view aspect, const mysql::variables& all) {
  return finding_on(aspect, all).grade;
}

TEST(mysql_findings, of_a_server_that_reports_nothing_are_warnings_or_bad) {
  EXPECT_EQ(grade_on("server", {}), finding_grade::warn);
  EXPECT_EQ(finding_on("server", {}).why, "not known: the server does not report it");
  EXPECT_EQ(grade_on("read_only", {}), finding_grade::bad);
  EXPECT_EQ(grade_on("durability", {}), finding_grade::warn);
  EXPECT_EQ(finding_on("durability", {}).why, "not known: the server does not report it");
  EXPECT_EQ(grade_on("replication", {}), finding_grade::warn);
}

TEST(mysql_findings, a_server_other_than_mariadb_is_a_warning) {
  const finding mariadb = finding_on("server", {{"version", "10.11.6-MariaDB"}});
  EXPECT_EQ(mariadb.grade, finding_grade::good);
  EXPECT_EQ(mariadb.why, "10.11.6-MariaDB");
  const finding other = finding_on("server", {{"version", "8.0.36"}});
  EXPECT_EQ(other.grade, finding_grade::warn);
  EXPECT_EQ(other.why.find("8.0.36 is not MariaDB"), 0u) << other.why;
}

TEST(mysql_findings, a_read_only_server_is_bad) {
  EXPECT_EQ(grade_on("read_only", {{"read_only", "OFF"}}), finding_grade::good);
  EXPECT_EQ(grade_on("read_only", {{"read_only", "0"}}), finding_grade::good);
  for (const char* const value : {"ON", "1"})
    EXPECT_EQ(grade_on("read_only", {{"read_only", value}}), finding_grade::bad) << value;
  EXPECT_EQ(finding_on("read_only", {{"read_only", "ON"}}).remedy, "name the primary in the URL");
}

TEST(mysql_findings, a_grant_that_is_flushed_later_is_a_warning_or_bad) {
  const auto durability = [](const char* value) {
    return finding_on("durability", {{"innodb_flush_log_at_trx_commit", value}});
  };
  EXPECT_EQ(durability("1").grade, finding_grade::good);
  EXPECT_EQ(durability("2").grade, finding_grade::warn);
  EXPECT_EQ(durability("0").grade, finding_grade::bad);
  EXPECT_EQ(durability("2").remedy, "set innodb_flush_log_at_trx_commit=1");
  EXPECT_EQ(durability("0").remedy, "set innodb_flush_log_at_trx_commit=1");
}

TEST(mysql_findings, replication_is_good_when_a_replica_has_each_grant_first) {
  const auto replication = [](const char* enabled, const char* point) {
    return finding_on("replication", {{"rpl_semi_sync_master_enabled", enabled},
                                      {"rpl_semi_sync_master_wait_point", point}});
  };
  EXPECT_EQ(replication("ON", "AFTER_SYNC").grade, finding_grade::good);
  EXPECT_EQ(replication("1", "AFTER_SYNC").grade, finding_grade::good);
  EXPECT_EQ(replication("OFF", "AFTER_SYNC").grade, finding_grade::warn);
  EXPECT_NE(replication("OFF", "AFTER_SYNC").remedy.find("master_enabled=ON"), std::string::npos);
  EXPECT_EQ(replication("ON", "AFTER_COMMIT").grade, finding_grade::warn);
  EXPECT_NE(replication("ON", "AFTER_COMMIT").remedy.find("wait_point=AFTER_SYNC"),
            std::string::npos);
}

struct findings_of_server final : seam::findings_handler {
  void on_result(std::vector<finding> all) override { found = std::move(all); }
  void on_failed(base::failure f) override { why = std::move(f); }

  std::vector<finding> found;
  base::failure why;
};

TEST(mysql_diagnosis, reads_the_variables_of_the_server_once) {
  server_fixture t("row");
  t.open();
  findings_of_server to;
  mysql::start_diagnosis(t.over, t.terms, to);
  EXPECT_TRUE(t.awaits(0, "SHOW GLOBAL VARIABLES"));
  t.reply(0, rows({{"read_only", "OFF"}, {"version", "10.11.6-MariaDB"}}));
  ASSERT_EQ(to.found.size(), 4u);
  EXPECT_EQ(to.found[0].grade, finding_grade::good);
  EXPECT_EQ(to.found[1].grade, finding_grade::good);
  EXPECT_EQ(t.statement(0), "");
}

TEST(mysql_diagnosis, fails_with_the_reason_of_the_server) {
  server_fixture t("row");
  t.open();
  findings_of_server to;
  mysql::start_diagnosis(t.over, t.terms, to);
  t.reply(0, error(1142));
  EXPECT_EQ(to.why.code, errc::refused);
  EXPECT_NE(to.why.text.find("grant this user"), std::string::npos) << to.why.text;
}

TEST(mysql_diagnosis, is_unavailable_when_its_connection_is_lost) {
  server_fixture t("row");
  t.open();
  findings_of_server to;
  mysql::start_diagnosis(t.over, t.terms, to);
  t.cut(0, "reset by the network");
  EXPECT_EQ(to.why.code, errc::unavailable);
  EXPECT_EQ(to.why.text, "reset by the network");
}

}  // namespace
}  // namespace holdfast::mysql_unit
