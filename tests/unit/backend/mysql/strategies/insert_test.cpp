// Opening with strategy `insert`: which tables suit a lock, and what is said of one that does not.
#include "tests/unit/backend/mysql/server_fixture.hpp"

namespace holdfast::mysql_unit {
namespace {

// Rows of information_schema.COLUMNS: the name, the type, the digits of a fraction, the
// character set.
const std::vector<mysql::sql_row> columns_of_records =
    {{"resource", "varbinary", std::nullopt, std::nullopt},
     {"description", "varchar", std::nullopt, "utf8mb4"},
     {"owner", "varbinary", std::nullopt, std::nullopt},
     {"count", "int", std::nullopt, std::nullopt},
     {"update_time", "timestamp", "6", std::nullopt},
     {"lease_ms", "bigint", std::nullopt, std::nullopt}};

class mysql_insert : public testing::Test {
 protected:
  static sql_reply columns(std::vector<mysql::sql_row> all = columns_of_records) {
    sql_reply out;
    out.rows = std::move(all);
    return out;
  }
  // The reply to the question for the columns, where one of them is another.
  static sql_reply with_column(std::size_t at, mysql::sql_row other) {
    std::vector<mysql::sql_row> all = columns_of_records;
    all[at] = std::move(other);
    return columns(std::move(all));
  }
  // The replies to the statements of an opening; `sent` has their beginnings, `text` the refusal.
  errc opened_with(std::vector<sql_reply> replies) {
    const auto opening = server_fixture("insert").open_with(std::move(replies));
    sent = opening.sent;
    text = opening.text;
    return opening.code;
  }
  errc opened_with_columns(const sql_reply& all) { return opened_with({all, keys, {}}); }
  // Opens the client, and a claim on "job".
  void open(server_fixture& t) const {
    ASSERT_EQ(t.open_with({columns(), keys, {}}).code, errc{});
    t.lock = t.s->open("job", t.sink);
  }
  void grant(server_fixture& t) const {
    open(t);
    t.acquire();
    for (const sql_reply& r : {sql_reply(), sql_reply(), granted_row(5)}) t.reply(0, r);
    EXPECT_EQ(t.sink.take(), "granted ");
  }

  const sql_reply keys = rows({{"id", "0"}, {"resource", "0"}});
  std::string sent, text;
};

TEST_F(mysql_insert, a_table_with_a_unique_key_of_the_name_suits) {
  EXPECT_EQ(opened_with({columns(), keys, {}}), errc{}) << text;
  EXPECT_EQ(sent, "SELECT SELECT SELECT ");
}

TEST_F(mysql_insert, missing_tables_are_created) {
  EXPECT_EQ(opened_with({{}, {}, columns(), keys, error(1146), {}, {}}), errc{}) << text;
  EXPECT_EQ(sent, "SELECT CREATE SELECT SELECT SELECT CREATE SELECT ");
}

TEST_F(mysql_insert, a_table_that_cannot_be_created_is_refused_with_its_statement) {
  EXPECT_EQ(opened_with({{}, error(1142)}), errc::refused);
  EXPECT_NE(text.find("; have the table created with: CREATE TABLE IF NOT EXISTS `locks` (id"),
            text.npos)
      << text;
  EXPECT_EQ(opened_with({columns(), keys, error(1146), error(1142)}), errc::refused);
  EXPECT_NE(text.find("; have the table created with: CREATE TABLE IF NOT EXISTS `locks_numbers`"),
            text.npos)
      << text;
}

TEST_F(mysql_insert, a_table_that_is_not_there_after_its_creation_is_refused) {
  EXPECT_EQ(opened_with({{}, {}, {}}), errc::mismatch);
  EXPECT_EQ(sent, "SELECT CREATE SELECT ");
  EXPECT_EQ(opened_with({columns(), keys, error(1146), {}, error(1146)}), errc::refused);
  EXPECT_EQ(text.find("have the table created with"), text.npos) << text;
}

TEST_F(mysql_insert, a_statement_that_the_server_refuses_ends_the_opening) {
  EXPECT_EQ(opened_with({error(1142)}), errc::refused);
  EXPECT_EQ(opened_with({columns(), error(1142)}), errc::refused);
  EXPECT_EQ(opened_with({columns(), keys, error(1142)}), errc::refused);
  EXPECT_EQ(sent, "SELECT SELECT SELECT ");
}

TEST_F(mysql_insert, a_waiter_looks_again_when_the_lease_of_the_holder_ends) {
  server_fixture t("insert");
  ASSERT_EQ(t.open_with({columns(), keys, {}}).code, errc{});
  t.lock = t.s->open("job", t.sink);
  t.acquire(false);
  for (int i = 0; i < 3; ++i) {  // each pause is longer than the one before
    ASSERT_TRUE(t.awaits(0, "SELECT `locks`.`owner`")) << t.statement(0);
    t.reply(0, rows({{"another", "20000000", "0"}}));
    t.pass(300ms);
  }
  t.reply(0, rows({{"another", "1000", "0"}}));
  t.pass(20ms);
  EXPECT_TRUE(t.awaits(0, "SELECT `locks`.`owner`")) << t.statement(0);
  t.lock->cancel();
  t.close_requested();
}

TEST_F(mysql_insert, each_column_that_is_missing_is_named_with_its_option_and_its_statement) {
  const std::pair<const char*, const char*> missing[] =
      {{"key-column", "resource VARBINARY(767) NOT NULL"},
       {"note-column", "description VARCHAR(1024) CHARACTER SET utf8mb4 NOT NULL DEFAULT ''"},
       {"owner-column", "owner VARBINARY(64) NOT NULL DEFAULT ''"},
       {"count-column", "count INT NOT NULL DEFAULT 1"},
       {"time-column", "update_time TIMESTAMP(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6)"},
       {"lease-column", "lease_ms BIGINT NOT NULL DEFAULT 0"}};
  for (std::size_t i = 0; i < std::size(missing); ++i) {
    const auto& [option, definition] = missing[i];
    EXPECT_EQ(opened_with_columns(with_column(i, {"other", "int"})), errc::mismatch) << option;
    const std::string name(definition, std::string_view(definition).find(' '));
    EXPECT_EQ(text, "the table locks has no column " + name + "; name the column with " + option +
                        ", or add it: ALTER TABLE locks ADD " + definition);
  }
}

TEST_F(mysql_insert, names_of_locks_are_bytes_or_text_in_utf8) {
  EXPECT_EQ(opened_with_columns(with_column(0, {"RESOURCE", "varchar", std::nullopt, "utf8mb4"})),
            errc{})
      << text;
  for (const mysql::sql_row& other :
       {mysql::sql_row{"resource", "varchar", std::nullopt, "latin1"},
        mysql::sql_row{"resource", "char", std::nullopt, "utf8mb4"},
        mysql::sql_row{"resource", "int", std::nullopt, std::nullopt}}) {
    EXPECT_EQ(opened_with_columns(with_column(0, other)), errc::mismatch) << *other[1];
    EXPECT_NE(text.find("MODIFY resource VARBINARY(767) NOT NULL"), text.npos) << text;
  }
}

TEST_F(mysql_insert, a_time_has_microseconds) {
  EXPECT_EQ(opened_with_columns(with_column(4, {"update_time", "datetime", "6"})), errc{}) << text;
  for (const mysql::sql_row& other : {mysql::sql_row{"update_time", "timestamp", "0"},
                                      mysql::sql_row{"update_time", "datetime", "3"},
                                      mysql::sql_row{"update_time", "time", "6"}}) {
    EXPECT_EQ(opened_with_columns(with_column(4, other)), errc::mismatch) << *other[1];
    EXPECT_NE(text.find("without microseconds"), text.npos) << text;
  }
}

TEST_F(mysql_insert, a_unique_key_is_of_the_whole_name_and_of_nothing_else) {
  for (const sql_reply& other : {sql_reply(), rows({{"id", "0"}}), rows({{"resource", "1"}}),
                                 rows({{"id,resource", "0"}})}) {
    EXPECT_EQ(opened_with({columns(), other, {}}), errc::mismatch);
    EXPECT_NE(text.find("ALTER TABLE locks ADD UNIQUE KEY (resource)"), text.npos) << text;
  }
}

TEST_F(mysql_insert, a_unique_key_of_the_name_and_the_type_suits_in_either_order) {
  mysql::settings terms = server_fixture::settings_of("insert");
  terms.records.type = "kind";
  std::vector<mysql::sql_row> all = columns_of_records;
  all.push_back({"kind", "varchar", std::nullopt, "utf8mb4"});
  const std::pair<const char*, errc> known[] = {{"resource,kind", errc{}},
                                                {"kind,resource", errc{}},
                                                {"Kind,Resource", errc{}},
                                                {"resource", errc::mismatch},
                                                {"kind", errc::mismatch},
                                                {"id,kind,resource", errc::mismatch}};
  for (const auto& [key, code] : known)
    EXPECT_EQ(server_fixture(terms).open_with({columns(all), rows({{key, "0"}}), {}}).code, code)
        << key;
}

TEST_F(mysql_insert, an_attempt_that_finds_an_expired_record_and_cannot_take_it_is_busy) {
  server_fixture t("insert");
  open(t);
  t.acquire();
  const sql_reply expired = rows({{"another", "0", "0"}});
  for (const sql_reply& r : {expired, sql_reply(), sql_reply(), expired, sql_reply(), sql_reply()})
    t.reply(0, r);
  ASSERT_TRUE(t.awaits(0, "SELECT `locks`.`owner`"));
  t.reply(0, expired);
  EXPECT_EQ(t.sink.take(), "refused:" + make_error_code(errc::timed_out).message() + ' ')
      << "another client was quicker each time";
  EXPECT_EQ(t.statement(0), "");
}

// It was released meanwhile.
TEST_F(mysql_insert, a_waiter_tries_again_soon_after_the_record_has_vanished) {
  server_fixture t("insert");
  open(t);
  t.acquire(false);
  for (int i = 0; i < 3; ++i) {  // each pause is longer than the one before
    t.reply(0, rows({{"another", "20000000", "0"}}));
    t.pass(300ms);
  }
  const sql_reply expired = rows({{"another", "0", "0"}});
  for (const sql_reply& r : {expired, sql_reply(), sql_reply(), expired, sql_reply(), sql_reply()})
    t.reply(0, r);
  ASSERT_TRUE(t.awaits(0, "SELECT `locks`.`owner`"));
  t.reply(0, {});
  EXPECT_EQ(t.statement(0), "");
  t.pass(5ms);
  EXPECT_TRUE(t.awaits(0, "SELECT `locks`.`owner`")) << t.statement(0);
  t.lock->cancel();
  t.close_requested();
}

TEST_F(mysql_insert, a_renewal_extends_the_lease) {
  server_fixture t("insert");
  grant(t);
  t.lock->renew(30s, 7);
  t.greet(1);
  ASSERT_TRUE(t.awaits(1, "UPDATE"));
  t.reply(1, granted_row(0));
  EXPECT_EQ(t.sink.take(), "extended ");
  EXPECT_EQ(t.sink.ticket, 7u);
}

TEST_F(mysql_insert, a_renewal_that_finds_no_record_of_its_owner_reports_why) {
  const std::pair<sql_reply, errc> found[] = {{rows({{"another", "5000", "0"}}), errc::lost},
                                              {{}, errc::not_held}};
  for (const auto& [record, why] : found) {
    server_fixture t("insert");
    grant(t);
    t.lock->renew(30s, 1);
    t.greet(1);
    t.reply(1, {});
    EXPECT_EQ(t.sink.take(), "");
    ASSERT_TRUE(t.awaits(1, "SELECT `locks`.`owner`"));
    t.reply(1, record);
    EXPECT_EQ(t.sink.take(), "lost ");
    EXPECT_EQ(t.sink.lost_by, why);
    EXPECT_EQ(t.statement(1), "");
  }
}

TEST_F(mysql_insert, a_record_that_never_expires_is_busy) {
  server_fixture t("insert");
  t.net.while_blocked = [&] {
    t.greet(0);
    t.reply(0, columns());
    t.reply(0, keys);
    t.reply(0, {});
  };
  t.over.open();
  t.lock = t.s->open("job", t.sink);
  const std::string busy = "refused:" + make_error_code(errc::timed_out).message() + ' ';
  t.acquire();
  EXPECT_TRUE(t.awaits(0, "SELECT `locks`.`owner`"));
  t.reply(0, rows({{"another", std::nullopt, "0"}}));
  EXPECT_EQ(t.sink.take(), busy);
  t.acquire();
  t.reply(0, rows({{"another", "1", "0"}}));
  EXPECT_EQ(t.sink.take(), busy) << "it expires in a microsecond";
  t.acquire();
  t.reply(0, rows({{"another", "0", "0"}}));
  EXPECT_EQ(t.sink.take(), "") << "it has expired, and is taken";
  EXPECT_NE(t.statement(0), "");
  t.reply(0, error(1142));
}

}  // namespace
}  // namespace holdfast::mysql_unit
