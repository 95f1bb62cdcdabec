// The statements of strategy `insert`, for tables with and without their optional columns.
#include "backend/mysql/strategies/insert/statements.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace holdfast::mysql_unit {
namespace {

using namespace std::chrono_literals;

using mysql::insert::statements;
using mysql::retrying::lock_request;

const mysql::insert::columns all_columns{.key = "k",
                                         .type = "t",
                                         .note = "n",
                                         .owner = "o",
                                         .count = "c",
                                         .update_time = "u",
                                         .lease = "l",
                                         .type_value = "lock"};
const mysql::insert::columns few_columns{.key = "k",
                                         .type = {},
                                         .note = {},
                                         .owner = "o",
                                         .count = {},
                                         .update_time = "u",
                                         .lease = "l",
                                         .type_value = "lock"};
constexpr lock_request job{.name = "job", .owner = "me", .note = "x", .host = {}, .ttl = 1500500us};

bool is_in(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

TEST(mysql_insert_statements, insert_each_column_that_the_table_has) {
  EXPECT_EQ(statements("locks", all_columns).try_lock(job, 1).text(),
            "INSERT INTO `locks` (`k`,`t`,`n`,`o`,`c`,`u`,`l`) VALUES (_utf8mb4 x'6a6f62',"
            "_utf8mb4 x'6c6f636b',_utf8mb4 x'78',x'6d65',1,UTC_TIMESTAMP(6),1501) "
            "ON DUPLICATE KEY UPDATE `o`=`o`")
      << "a lease of whole milliseconds, rounded up";
  EXPECT_EQ(statements("locks", few_columns).try_lock(job, 1).text(),
            "INSERT INTO `locks` (`k`,`o`,`u`,`l`) VALUES (_utf8mb4 x'6a6f62',x'6d65',"
            "UTC_TIMESTAMP(6),1501) ON DUPLICATE KEY UPDATE `o`=`o`");
}

TEST(mysql_insert_statements, take_a_record_of_this_owner_or_one_that_has_expired) {
  for (const std::uint8_t step : {std::uint8_t{2}, std::uint8_t{5}}) {
    const std::string take = statements("locks", all_columns).try_lock(job, step).text();
    EXPECT_TRUE(is_in(take, "UPDATE `locks` JOIN `locks_numbers` n ON n.name=x'6a6f62' SET "));
    EXPECT_TRUE(is_in(take, ",`locks`.`n`=_utf8mb4 x'78',`locks`.`c`=1 WHERE ")) << take;
    EXPECT_TRUE(is_in(take, "`locks`.`k`=_utf8mb4 x'6a6f62' AND `locks`.`t`=_utf8mb4 x'6c6f636b'"
                            " AND (`locks`.`o`=x'6d65' OR (`locks`.`l`>0 AND "))
        << take;
  }
  const std::string bare = statements("locks", few_columns).try_lock(job, 2).text();
  EXPECT_TRUE(is_in(bare, "`locks`.`l`=1501 WHERE `locks`.`k`=_utf8mb4 x'6a6f62' AND ("));
}

TEST(mysql_insert_statements, read_the_record_in_every_other_step) {
  const statements s("locks", few_columns);
  for (const std::uint8_t step : {std::uint8_t{0}, std::uint8_t{3}, std::uint8_t{6}})
    EXPECT_TRUE(s.try_lock(job, step).text().starts_with("SELECT `locks`.`o`,IF(`locks`.`l`>0,"));
  EXPECT_EQ(s.try_lock(job, 4).text(),
            "INSERT INTO `locks_numbers` VALUES(x'6a6f62',0) ON DUPLICATE KEY UPDATE name=name");
}

TEST(mysql_insert_statements, compare_the_owner_in_a_release_and_a_renewal) {
  const statements s("locks", few_columns);
  EXPECT_EQ(s.release("job", "me", lock_mode::exclusive).text(),
            "DELETE FROM `locks` WHERE `locks`.`k`=_utf8mb4 x'6a6f62' AND `locks`.`o`=x'6d65'");
  EXPECT_TRUE(s.renew(job).text().ends_with(" AND `locks`.`o`=x'6d65'")) << s.renew(job).text();
  EXPECT_TRUE(
      is_in(s.expiry("job", "me").text(), " AND `locks`.`o`=x'6d65' AND (`locks`.`l`>0 AND "));
}

TEST(mysql_insert_statements, list_names_with_a_prefix_page_by_page) {
  const statements s("locks", few_columns);
  const std::string first = s.page_of_holders("50%_|", {}, 7);
  EXPECT_TRUE(is_in(first, "`locks`.`k` LIKE _utf8mb4 x'35307c257c5f7c7c25' ESCAPE '|' AND NOT"))
      << first;
  EXPECT_TRUE(first.ends_with(" ORDER BY `locks`.`k` LIMIT 7")) << first;
  mysql::retrying::page_cursors cursors;
  cursors[0].last = {"job"};
  EXPECT_TRUE(is_in(s.page_of_holders("", cursors, 7), " AND `locks`.`k`>_utf8mb4 x'6a6f62' AND"));
  EXPECT_FALSE(is_in(s.expired_by_prefix("", {}, 7), "`locks`.`k`>"));
  EXPECT_TRUE(is_in(s.expired_by_prefix("", {"job", "me"}, 7), "`locks`.`k`>_utf8mb4 x'6a6f62'"));
}

TEST(mysql_insert_statements, show_an_empty_note_where_the_table_has_none) {
  EXPECT_TRUE(is_in(statements("locks", all_columns).holders_of("job"), ",`locks`.`n`,'',0,0,"));
  EXPECT_TRUE(is_in(statements("locks", few_columns).holders_of("job"), ",'','',0,0,"));
}

TEST(mysql_insert_statements, create_a_table_with_a_unique_key_of_the_name_and_the_type) {
  const std::string all = statements("locks", all_columns).create_records();
  EXPECT_TRUE(is_in(all, "UNIQUE KEY (`k`, `t`)")) << all;
  for (const char* const column : {"`t` VARCHAR(64)", "`n` VARCHAR(1024)", "`c` INT "})
    EXPECT_TRUE(is_in(all, column)) << all;
  const std::string few = statements("locks", few_columns).create_records();
  EXPECT_TRUE(is_in(few, "UNIQUE KEY (`k`))")) << few;
  EXPECT_FALSE(is_in(few, "VARCHAR") || is_in(few, " INT ")) << few;
}

}  // namespace
}  // namespace holdfast::mysql_unit
