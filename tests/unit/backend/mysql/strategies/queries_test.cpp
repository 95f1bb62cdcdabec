// The queries of an operator: what is read of the server's rows, for each strategy.
#include <optional>

#include "tests/unit/backend/mysql/server_fixture.hpp"

namespace holdfast::mysql_unit {
namespace {

template <class T>
struct answer_of final : seam::result_handler<T> {
  void on_result(T r) override { result = std::move(r); }
  void on_failed(base::failure f) override { why = std::move(f); }

  std::optional<T> result;
  base::failure why;
};

using holders_found = answer_of<std::vector<holder>>;

constexpr std::nullopt_t sql_null = std::nullopt;

TEST(mysql_holders, of_a_row_have_all_that_the_row_has) {
  server_fixture t("row");
  t.open();
  holders_found to;
  t.s->holders("job", to);
  EXPECT_TRUE(t.awaits(0, "WHERE name=x'6a6f62' AND expires_at>UTC_TIMESTAMP(6)"));
  t.reply(0, rows({{"job", "o1", "5", "a note", "web7", "42", "2500999", "1000999", sql_null,
                    sql_null},
                   {"job", "g3", "-1", "", "", "0", "-5", sql_null, "1", "0"},
                   {"job", "o2", "9007199254740993", "", "", "0", "0", "0", "2", "5"}}));
  ASSERT_TRUE(to.result && to.result->size() == 3);
  const holder& writer = to.result->at(0);
  EXPECT_EQ(writer.name + ' ' + writer.owner + ' ' + writer.note + ' ' + writer.host,
            "job o1 a note web7");
  EXPECT_EQ(writer.token, 5 * 1024);
  EXPECT_EQ(writer.pid, 42);
  EXPECT_EQ(writer.held_for, 2500ms);
  EXPECT_EQ(writer.expires_in, 1000ms);
  EXPECT_EQ(writer.mode, lock_mode::exclusive);
  EXPECT_EQ(writer.permits + writer.total_permits, 0u);
  EXPECT_EQ(writer.waiting, -1);
  const holder& reader = to.result->at(1);
  EXPECT_EQ(reader.mode, lock_mode::shared);
  EXPECT_EQ(reader.token, 0) << "a number below 0 is none";
  EXPECT_EQ(reader.held_for, 0ms);
  EXPECT_EQ(reader.expires_in, std::chrono::milliseconds::max());
  const holder& of_permits = to.result->at(2);
  EXPECT_EQ(of_permits.mode, lock_mode::permit);
  EXPECT_EQ(of_permits.permits, 2u);
  EXPECT_EQ(of_permits.total_permits, 5u);
  EXPECT_EQ(of_permits.token, ((1ll << 53) - 1) * 1024);
}

TEST(mysql_list, is_sorted_and_has_a_lock_that_is_in_two_pages_once) {
  server_fixture t("row");
  t.open();
  holders_found to;
  t.s->inspect("", to);
  EXPECT_TRUE(t.awaits(0, " UNION ALL "));
  const auto row_of = [](const char* name, const char* owner, const char* drawn, bool is_member) {
    const std::optional<std::string> permits =
        is_member ? std::optional<std::string>("0") : sql_null;
    return mysql::sql_row{name, owner, drawn, "", "", "0", "0", "0", permits, permits, ""};
  };
  t.reply(0, rows({row_of("b", "old", "1", false), row_of("a", "z", "2", false),
                   row_of("c", "r2", "7", true), row_of("c", "r1", "7", true),
                   row_of("c", "r0", "8", true), row_of("b", "new", "3", false)}));
  std::string owners;
  ASSERT_TRUE(to.result);
  for (const holder& h : *to.result) owners += h.name + ':' + h.owner + ' ';
  EXPECT_EQ(owners, "a:z b:new c:r1 c:r2 c:r0 ");
}

// Which of them came first is not known from the pages.
TEST(mysql_list, has_both_the_writer_and_the_reader_of_a_lock_that_changed_hands_meanwhile) {
  server_fixture t("row");
  t.open();
  holders_found to;
  t.s->inspect("", to);
  const auto writer = [](const char* name) {
    return mysql::sql_row{name, "w", "1", "", "", "0", "0", "0", sql_null, sql_null, ""};
  };
  const auto reader = [](const char* name) {
    return mysql::sql_row{name, "r", "1", "", "", "0", "0", "0", "0", "0", ""};
  };
  t.reply(0, rows({writer("a"), reader("a"), reader("b"), writer("b")}));
  std::string owners;
  ASSERT_TRUE(to.result);
  for (const holder& h : *to.result) owners += h.name + ':' + h.owner + ' ';
  EXPECT_EQ(owners, "a:r a:w b:r b:w ");
}

TEST(mysql_list, reads_a_further_page_after_a_thousand_rows) {
  server_fixture t("row");
  t.open();
  holders_found to;
  t.s->inspect("", to);
  sql_reply page;
  for (int i = 0; i < 999; ++i)
    page.rows.push_back(
        {std::to_string(i), "o", "1", "", "", "0", "0", "0", sql_null, sql_null, "7"});
  page.rows.push_back({"the last", "o", "1", "", "", "0", "0", "0", sql_null, sql_null, "7"});
  t.reply(0, page);
  ASSERT_FALSE(to.result);
  EXPECT_TRUE(t.awaits(0, "FORCE INDEX (in_use)"));
  EXPECT_TRUE(t.awaits(0, "last_hour>=7 AND (last_hour>7 OR name>x'746865206c617374')"))
      << "the last";
  EXPECT_FALSE(t.awaits(0, " UNION ALL ")) << "all readers have been read";
  page.rows.resize(999);
  t.reply(0, page);
  ASSERT_TRUE(to.result);
  EXPECT_EQ(to.result->size(), 1000u);
}

TEST(mysql_break, deletes_what_the_owner_has_as_writer_and_as_reader) {
  for (const std::size_t deleted_by : {0u, 1u, 2u}) {
    server_fixture t("row");
    t.open();
    answer_of<bool> to;
    t.s->break_lock("job", "o1", to);
    EXPECT_TRUE(t.awaits(0, "UPDATE `locks` SET owner=x''"));
    sql_reply deleted;
    deleted.affected = 1;
    t.reply(0, deleted_by == 0 ? deleted : sql_reply());
    EXPECT_TRUE(t.awaits(0, "DELETE FROM"));
    t.reply(0, deleted_by == 1 ? deleted : sql_reply());
    EXPECT_EQ(to.result, deleted_by < 2);
  }
}

TEST(mysql_break, of_a_group_of_readers_takes_one_statement) {
  server_fixture t("row");
  t.open();
  answer_of<bool> to;
  t.s->break_lock("job", "g3", to);
  EXPECT_TRUE(t.awaits(0, "grant_number=3 AND total_permits=0"));
  t.reply(0, {});
  EXPECT_EQ(to.result, false);
}

TEST(mysql_prune, deletes_each_expired_row_and_counts_those_that_were_still_there) {
  server_fixture t("row");
  t.open();
  answer_of<std::size_t> to;
  auto* const unused = t.s->find<seam::unused_locks>();
  ASSERT_TRUE(unused);
  unused->remove_unused(to);
  EXPECT_TRUE(t.awaits(0, "SELECT name,owner FROM"));
  EXPECT_TRUE(t.awaits(0, "expires_at<=UTC_TIMESTAMP(6)"));
  t.reply(0, rows({{"a", "o"}, {"b", "p"}, {"c", "q"}}));
  sql_reply deleted;
  deleted.affected = 1;
  for (const char* const name : {"63", "62", "61"}) {
    EXPECT_TRUE(t.awaits(0, "WHERE name=x'" + std::string(name) + "' AND owner=x'"));
    EXPECT_TRUE(t.awaits(0, "AND expires_at<=UTC_TIMESTAMP(6)"));
    t.reply(0, name[1] == '2' ? sql_reply() : deleted);
  }
  EXPECT_EQ(to.result, 2u);
}

TEST(mysql_prune, reads_a_further_list_after_a_thousand_rows) {
  server_fixture t("row");
  t.open();
  answer_of<std::size_t> to;
  t.s->find<seam::unused_locks>()->remove_unused(to);
  sql_reply list;
  for (int i = 0; i < 999; ++i) list.rows.push_back({std::to_string(i), "o"});
  list.rows.push_back({"the last", "o"});
  t.reply(0, list);
  for (int i = 0; i < 1000; ++i) {
    EXPECT_TRUE(t.awaits(0, "AND expires_at<=UTC_TIMESTAMP(6)"));
    t.reply(0, {});
  }
  EXPECT_TRUE(t.awaits(0, "SELECT name,owner FROM"));
  EXPECT_TRUE(t.awaits(0, "name>x'746865206c617374'")) << "the last";
  t.reply(0, {});
  EXPECT_EQ(to.result, 0u);
}

TEST(mysql_holders, of_a_named_lock_are_its_connection_and_its_host) {
  server_fixture t("named");
  t.open();
  holders_found one, none;
  t.s->holders("job", one);
  EXPECT_TRUE(t.awaits(0, "WHERE id=IS_USED_LOCK"));
  t.reply(0, rows({{"12", "web7:4711"}}));
  ASSERT_TRUE(one.result && one.result->size() == 1);
  EXPECT_EQ(one.result->at(0).name, "job");
  EXPECT_EQ(one.result->at(0).owner, "12");
  EXPECT_EQ(one.result->at(0).host, "web7");
  EXPECT_EQ(one.result->at(0).waiting, -1);
  t.s->holders("job", none);
  t.reply(0, {});
  ASSERT_TRUE(none.result);
  EXPECT_TRUE(none.result->empty());
}

TEST(mysql_named_locks, are_neither_listed_nor_broken) {
  for (const char* const strategy : {"named", "for-update"}) {
    server_fixture t(strategy);
    t.open();
    holders_found listed;
    t.s->inspect("", listed);
    EXPECT_EQ(listed.why.code, errc::unsupported);
    EXPECT_NE(listed.why.text.find("use strategy=row"), std::string::npos) << listed.why.text;
    answer_of<bool> broken;
    t.s->break_lock("job", "12", broken);
    EXPECT_EQ(broken.why.code, errc::unsupported);
    EXPECT_NE(broken.why.text.find("KILL that connection"), std::string::npos) << broken.why.text;
  }
}

TEST(mysql_holders, of_a_row_lock_are_found_by_skipping_locked_rows) {
  const auto holders_with = [](const std::vector<sql_reply>& replies, const std::string& last) {
    server_fixture t("for-update");
    t.open();
    holders_found to;
    t.s->holders("job", to);
    for (const sql_reply& r : replies) {
      EXPECT_FALSE(to.result);
      const bool is_last = &r == &replies.back();
      EXPECT_TRUE(!is_last || t.statement(0).ends_with(last)) << t.statement(0);
      t.reply(0, r);
    }
    EXPECT_TRUE(to.result);
    return to.result.value_or(std::vector<holder>());
  };
  const sql_reply row = rows({{"1"}});
  EXPECT_TRUE(holders_with({sql_reply()}, "WHERE name=x'6a6f62'").empty()) << "it was never locked";
  EXPECT_TRUE(holders_with({row, row}, " FOR UPDATE SKIP LOCKED").empty()) << "it is free";
  const auto shared = holders_with({row, {}, row}, " LOCK IN SHARE MODE/*M! SKIP LOCKED*/");
  ASSERT_EQ(shared.size(), 1u);
  EXPECT_EQ(shared[0].mode, lock_mode::shared);
  EXPECT_EQ(shared[0].name + ' ' + shared[0].owner, "job unknown");
  EXPECT_EQ(shared[0].waiting, -1);
  const auto exclusive = holders_with({row, {}, {}}, " LOCK IN SHARE MODE/*M! SKIP LOCKED*/");
  ASSERT_EQ(exclusive.size(), 1u);
  EXPECT_EQ(exclusive[0].mode, lock_mode::exclusive);
}

TEST(mysql_query, that_the_server_refuses_has_its_reason) {
  server_fixture t("row");
  t.open();
  holders_found to;
  t.s->holders("job", to);
  t.reply(0, error(1142));
  EXPECT_FALSE(to.result);
  EXPECT_EQ(to.why.code, errc::refused);
  EXPECT_EQ(t.statement(0), "");
}

}  // namespace
}  // namespace holdfast::mysql_unit
