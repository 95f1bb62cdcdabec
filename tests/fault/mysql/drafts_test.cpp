// The insert flow with drafts on a real MariaDB: crashes and rollbacks between each pair of steps.
#include <thread>
#include <vector>

#include "tests/fault/mysql/fixture.hpp"

namespace holdfast::mysql_test {
namespace {

using namespace std::chrono_literals;

class mysql_drafts : public on_mariadb {
 protected:
  void SetUp() override {
    on_mariadb::SetUp();
    if (IsSkipped()) return;
    query("CREATE TABLE article (id BIGINT AUTO_INCREMENT PRIMARY KEY, version BIGINT NOT NULL,"
          " is_draft BOOLEAN NOT NULL, touched DATETIME(6) NOT NULL,"
          " title VARCHAR(200) NOT NULL DEFAULT '', KEY drafts (is_draft, touched))");
    editor_.emplace(server());
  }
  void TearDown() override { editor_.reset(); }

  draft_table articles() { return {editor_->connection, {.table = "article"}}; }
  mariadb_link& session() { return editor_->link; }
  // As after a crash of the editor: its connection ends, the server rolls back what is open.
  void crash() {
    const unsigned long id = editor_->link.id();
    server().kill_connection(id);
    editor_.emplace(server());
  }
  static void let_an_hour_pass() { query("UPDATE article SET touched=touched - INTERVAL 1 HOUR"); }
  static long long drafts() {
    return query("SELECT COUNT(*) FROM article WHERE is_draft").number();
  }
  static std::string published() {
    return query("SELECT GROUP_CONCAT(title) FROM article WHERE NOT is_draft").text();
  }

 private:
  std::optional<own_connection> editor_;
};

sql_columns titled(const std::string& title) { return {{"title", title}}; }

TEST_F(mysql_drafts, a_draft_is_created_opened_saved_and_submitted) {
  draft_table table = articles();
  const draft created = table.create(titled("t"));
  auto opened = table.open(created.id);
  ASSERT_TRUE(opened);
  EXPECT_EQ(opened->version, created.version);
  EXPECT_EQ(opened->values, titled("t"));
  EXPECT_EQ(table.save(*opened, titled("tt")), draft_status::done);
  EXPECT_EQ(opened->values, titled("tt"));
  EXPECT_EQ(published(), "");
  EXPECT_EQ(table.submit(*opened, titled("ttt")), draft_status::done);
  EXPECT_EQ(published(), "ttt");
  EXPECT_FALSE(table.open(created.id));
  EXPECT_EQ(table.submit(*opened), draft_status::submitted);
  EXPECT_EQ(table.save(*opened, titled("late")), draft_status::submitted);
  EXPECT_EQ(table.abandon(*opened), draft_status::submitted);
  EXPECT_EQ(published(), "ttt");
}

TEST_F(mysql_drafts, of_two_editors_of_one_draft_the_first_submit_wins) {
  draft_table table = articles();
  own_connection other(server());
  draft_table at_other(other.connection, {.table = "article"});
  draft a = table.create(), b = *at_other.open(a.id);
  EXPECT_EQ(at_other.save(b, titled("b")), draft_status::done);
  EXPECT_EQ(table.submit(a, titled("a")), draft_status::changed);
  EXPECT_EQ(table.abandon(a), draft_status::changed);
  EXPECT_EQ(at_other.submit(b), draft_status::done);
  EXPECT_EQ(published(), "b");
}

TEST_F(mysql_drafts, a_form_that_is_sent_by_sixteen_threads_at_once_is_submitted_once) {
  const draft form = articles().create();
  std::atomic<int> done = 0;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 16; ++i)
    threads.emplace_back([&, i] {
      own_connection own(server());
      draft copy = form;
      draft_table table(own.connection, {.table = "article"});
      done += table.submit(copy, titled(std::to_string(i))) == draft_status::done;
    });
  threads.clear();
  EXPECT_EQ(done, 1);
  EXPECT_EQ(query("SELECT version FROM article").number(), 2);
}

TEST_F(mysql_drafts, abandoned_and_swept_drafts_are_gone) {
  draft_table table = articles();
  draft abandoned = table.create(), swept = table.create(), living = table.create();
  draft finished = table.create();
  EXPECT_EQ(table.submit(finished, titled("kept")), draft_status::done);
  EXPECT_EQ(table.abandon(abandoned), draft_status::done);
  EXPECT_EQ(table.submit(abandoned), draft_status::gone);
  let_an_hour_pass();
  EXPECT_EQ(table.save(living, titled("in work")), draft_status::done);
  EXPECT_EQ(table.sweep(2h), 0u);
  EXPECT_EQ(table.sweep(30min), 1u);
  EXPECT_EQ(table.submit(swept), draft_status::gone);
  EXPECT_EQ(table.submit(living), draft_status::done);
  EXPECT_EQ(query("SELECT COUNT(*) FROM article").number(), 2);
}

TEST_F(mysql_drafts, a_sweep_deletes_no_more_than_its_limit) {
  draft_table table = articles();
  for (int i = 0; i < 5; ++i) (void)table.create();
  let_an_hour_pass();
  EXPECT_EQ(table.sweep(1min, 3), 3u);
  EXPECT_EQ(table.sweep(1min, 3), 2u);
}

TEST_F(mysql_drafts, a_sweep_depends_on_no_time_zone) {
  draft_table table = articles();
  for (const std::string zone : {"-12:00", "+13:00"}) {
    session().query("SET time_zone='" + zone + "'");
    (void)table.create();
    for (const std::string other : {"+13:00", "-12:00"}) {
      session().query("SET time_zone='" + other + "'");
      EXPECT_EQ(table.sweep(1h), 0u);
    }
  }
  EXPECT_EQ(drafts(), 2);
}

// After each step the editor crashes: what it left is a draft that a sweep removes, or the row.
TEST_F(mysql_drafts, a_crash_after_any_step_leaves_a_draft_for_the_sweep_or_the_row) {
  for (int steps = 1; steps <= 4; ++steps) {
    draft_table table = articles();
    draft d = table.create(titled("new"));
    if (steps >= 2) d = *table.open(d.id);
    if (steps >= 3) {
      EXPECT_EQ(table.save(d, titled("saved")), draft_status::done);
    }
    if (steps >= 4) {
      EXPECT_EQ(table.submit(d, titled("whole")), draft_status::done);
    }
    crash();
    EXPECT_EQ(drafts(), steps < 4 ? 1 : 0) << steps;
    let_an_hour_pass();
    EXPECT_EQ(articles().sweep(1min), steps < 4 ? 1u : 0u) << steps;
    EXPECT_EQ(published(), steps < 4 ? "" : "whole") << steps;
  }
}

// A crash of the editor inside the transaction of a step undoes that step alone.
TEST_F(mysql_drafts, a_crash_before_the_commit_of_a_step_undoes_that_step) {
  draft d = articles().create(titled("new"));
  session().query("BEGIN");
  EXPECT_EQ(articles().submit(d, titled("lost")), draft_status::done);
  crash();
  EXPECT_EQ(published(), "");
  auto again = articles().open(d.id);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->values, titled("new"));
  EXPECT_EQ(articles().submit(*again, titled("whole")), draft_status::done);
  EXPECT_EQ(published(), "whole");
}

TEST_F(mysql_drafts, a_rollback_of_create_leaves_a_gap_in_the_ids_and_no_row) {
  session().query("BEGIN");
  draft undone = articles().create();
  session().query("ROLLBACK");
  EXPECT_FALSE(articles().open(undone.id));
  const draft next = articles().create(titled("next"));
  EXPECT_GT(next.id, undone.id);  // so the late submit cannot reach another draft's row
  EXPECT_EQ(articles().submit(undone, titled("late")), draft_status::gone);
  EXPECT_EQ(drafts(), 1);
}

TEST_F(mysql_drafts, a_rollback_of_save_or_submit_leaves_the_draft_as_it_was) {
  draft_table table = articles();
  draft d = table.create(titled("new"));
  session().query("BEGIN");
  EXPECT_EQ(table.save(d, titled("undone")), draft_status::done);
  session().query("ROLLBACK");
  EXPECT_EQ(table.submit(d), draft_status::changed);  // of the version that was undone
  d = *table.open(d.id);
  EXPECT_EQ(d.values, titled("new"));
  session().query("BEGIN");
  EXPECT_EQ(table.submit(d, titled("undone")), draft_status::done);
  session().query("ROLLBACK");
  EXPECT_EQ(published(), "");
  d = *table.open(d.id);
  EXPECT_EQ(table.submit(d, titled("whole")), draft_status::done);
  EXPECT_EQ(published(), "whole");
}

TEST_F(mysql_drafts, a_rollback_of_abandon_or_sweep_leaves_a_draft_that_can_be_submitted) {
  draft_table table = articles();
  draft d = table.create();
  let_an_hour_pass();
  session().query("BEGIN");
  EXPECT_EQ(table.abandon(d), draft_status::done);
  session().query("ROLLBACK");
  session().query("BEGIN");
  EXPECT_EQ(table.sweep(1min), 1u);
  session().query("ROLLBACK");
  EXPECT_EQ(table.submit(d), draft_status::done);
}

// The sweep and the submit of one draft meet: one of them has it.
TEST_F(mysql_drafts, a_sweep_that_meets_a_submit_takes_the_draft_or_leaves_the_row) {
  draft_table table = articles();
  own_connection sweeper(server());
  draft_table at_sweeper(sweeper.connection, {.table = "article"});
  for (const bool submit_commits : {true, false}) {
    draft d = table.create(titled("x"));
    let_an_hour_pass();
    session().query("BEGIN");
    EXPECT_EQ(table.submit(d), draft_status::done);
    std::uint64_t swept = 7;
    std::jthread sweep([&] { swept = at_sweeper.sweep(1min); });
    server().wait_until_row_wait(sweeper.link.id());
    session().query(submit_commits ? "COMMIT" : "ROLLBACK");
    sweep.join();
    EXPECT_EQ(swept, submit_commits ? 0u : 1u);
  }
  EXPECT_EQ(published(), "x");
}

TEST_F(mysql_drafts, an_error_is_thrown_or_stored) {
  draft_table table = articles();
  draft d = table.create();
  query("DROP TABLE article");
  std::error_code code;
  const auto is_reported = [&] {
    const bool is_mismatch = code == errc::mismatch;
    code.clear();
    return is_mismatch;
  };
  EXPECT_EQ(table.create({}, code).id, 0);
  EXPECT_TRUE(is_reported());
  EXPECT_FALSE(table.open(d.id, code));
  EXPECT_TRUE(is_reported());
  EXPECT_NE(table.save(d, {}, code), draft_status::done);
  EXPECT_TRUE(is_reported());
  EXPECT_NE(table.submit(d, {}, code), draft_status::done);
  EXPECT_TRUE(is_reported());
  EXPECT_NE(table.abandon(d, code), draft_status::done);
  EXPECT_TRUE(is_reported());
  EXPECT_EQ(table.sweep(1h, 1, code), 0u);
  EXPECT_TRUE(is_reported());
  optimistic_table rows(mysql_connection(session().handle()), {.table = "article"});
  EXPECT_FALSE(rows.read({{"id", 1}}, {}, code));
  EXPECT_TRUE(is_reported());
  EXPECT_FALSE(rows.write(versioned_row{{{"id", 1}}, {}, "1"}, titled("x"), code));
  EXPECT_TRUE(is_reported());
  EXPECT_FALSE(rows.update(
      {{"id", 1}}, [](const sql_columns& row) { return row; }, {}, {}, code));
  EXPECT_TRUE(is_reported());
}

TEST_F(mysql_drafts, what_cannot_work_is_refused) {
  draft_table table = articles();
  EXPECT_EQ(code_of([&] { (void)table.create({{"is_draft", 0}}); }), errc::bad_option);
  draft d = table.create();
  EXPECT_EQ(code_of([&] { (void)table.submit(d, {{"version", 9}}); }), errc::bad_option);
  d.version = "1 OR 1=1";
  EXPECT_EQ(code_of([&] { (void)table.submit(d); }), errc::bad_option);
  query("CREATE TABLE plain (id INT PRIMARY KEY, version INT, is_draft INT, touched DATETIME)");
  draft_table plain(mysql_connection(session().handle()), {.table = "plain"});
  EXPECT_NE(code_of([&] { (void)plain.create(); }), std::error_code());
  EXPECT_EQ(code_of([&] { (void)plain.create({{"none", 1}}); }), errc::mismatch);
}

}  // namespace
}  // namespace holdfast::mysql_test
