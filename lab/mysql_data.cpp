// Data in MariaDB that clients read, compute and write back.
#include <holdfast/optimistic.hpp>

#include <array>
#include <atomic>
#include <thread>

#include "lab/mariadb.hpp"
#include "lab/story.hpp"

namespace holdfast::lab {

namespace {

using namespace std::chrono_literals;
using testkit::mariadb_link;
using testkit::mariadb_server;

constexpr int items = 10;
constexpr auto time_between_sales = 10ms;

mariadb_server& shop() {
  mariadb_server& server = emptied_mariadb();
  server.query("CREATE TABLE stock (id INT PRIMARY KEY, `left` INT NOT NULL, version INT NOT NULL "
               "DEFAULT 0) ENGINE=InnoDB");
  server.query("INSERT INTO stock (id, `left`) VALUES (1, " + std::to_string(items) + ')');
  return server;
}
long long left_in(mariadb_link& c) {
  return c.query("SELECT `left` FROM stock WHERE id=1").number();
}
void write_left(mariadb_link& c, long long n) {
  c.query("UPDATE stock SET `left`=" + std::to_string(n) + " WHERE id=1");
}
std::string sum_of(int a, int b) {
  return std::to_string(a) + " + " + std::to_string(b) + " items sold of " + std::to_string(items);
}

void oversell_naive(play& p) {
  mariadb_server& server = shop();
  actor a(p.line, "shop A"), b(p.line, "shop B"), stock(p.line, "the stock");
  mariadb_link first = server.link(), second = server.link();
  stock.note("10 items left");
  int by_a = 0, by_b = 0;
  for (;;) {
    const long long seen_by_a = left_in(first), seen_by_b = left_in(second);
    if (seen_by_a == 0 && seen_by_b == 0) break;
    if (by_a == 0) a.note("reads 10, sells one and writes 9");
    write_left(first, seen_by_a - 1);
    ++by_a;
    if (by_b == 0) b.note("reads 10 before A writes, sells one and writes 9 too");
    write_left(second, seen_by_b - 1);
    ++by_b;
    if (by_b == 1) stock.bad("9 items left, and 2 sold");
    std::this_thread::sleep_for(20ms);
  }
  stock.bad("0 items left: " + sum_of(by_a, by_b));
  std::this_thread::sleep_for(20ms);
  p.ends(by_a + by_b > items, sum_of(by_a, by_b) + ": each sale that both shops read before the "
                                                   "other wrote was counted once.");
}

// Both shops sell at the same time until `sell` returns false.
template <class Sell>
void sell_out(play& p, mariadb_server& server, const char* how, Sell sell, const char* why) {
  actor a(p.line, "shop A"), b(p.line, "shop B"), stock(p.line, "the stock");
  stock.note("10 items left");
  std::atomic<int> by_a{0}, by_b{0};
  const auto run_shop = [&](actor& lane, std::atomic<int>& sold, std::size_t number) {
    lane.note(how);
    while (sell(lane, number)) {
      ++sold;
      std::this_thread::sleep_for(time_between_sales);
    }
    lane.note("reads 0: sold out, after " + std::to_string(sold) + " sales");
  };
  std::jthread first([&] { run_shop(a, by_a, 0); });
  std::jthread second([&] { run_shop(b, by_b, 1); });
  first.join();
  second.join();
  mariadb_link look = server.link();
  const long long left = left_in(look);
  stock.good(std::to_string(left) + " items left: " + sum_of(by_a, by_b));
  p.ends(by_a + by_b != items || left != 0, sum_of(by_a, by_b) + why);
}

void oversell_locked(play& p) {
  mariadb_server& server = shop();
  std::array<client, 2> shops{client::open(server.url()), client::open(server.url())};
  std::array<mariadb_link, 2> rows{server.link(), server.link()};
  const auto sell = [&](actor& lane, std::size_t number) {
    const lease held = shops[number].mutex("stock/1").acquire();
    lane.begin_turn();
    const long long seen = left_in(rows[number]);
    std::this_thread::sleep_for(10ms);
    if (seen > 0) write_left(rows[number], seen - 1);
    lane.end_turn();
    return seen > 0;
  };
  sell_out(p, server, "for each sale: acquire(), read, sell, write, release", sell,
           ": one shop at a time reads and writes.");
}

void oversell_optimistic(play& p) {
  mariadb_server& server = shop();
  std::atomic<std::uint32_t> conflicts = 0;
  std::array<sql_client, 2> shops{sql_client(server), sql_client(server)};
  const auto sell = [&](actor&, std::size_t number) {
    optimistic_table stock(shops[number].own, {.table = "stock"});
    const auto done =
        stock.update({{"id", 1}}, [](const sql_columns& row) -> std::optional<sql_columns> {
          const auto left = std::get<std::int64_t>(row.at("left"));
          std::this_thread::sleep_for(5ms);
          if (left == 0) return std::nullopt;
          return sql_columns{{"left", left - 1}};
        });
    conflicts += done.conflicts;
    return bool(done);
  };
  sell_out(p, server, "for each sale: read the row and its version; write if it is the same", sell,
           ": a write with an old version is refused, and the shop reads again.");
  p.outcome += " Refused: " + std::to_string(conflicts) + '.';
}

constexpr const char* create_articles =
    "CREATE TABLE article (id BIGINT AUTO_INCREMENT PRIMARY KEY, version BIGINT NOT NULL DEFAULT 1,"
    " is_draft BOOLEAN NOT NULL DEFAULT 0, touched DATETIME(6) NOT NULL DEFAULT NOW(6),"
    " title VARCHAR(200) NOT NULL DEFAULT '', KEY drafts (is_draft, touched)) ENGINE=InnoDB";

void rollback_naive(play& p) {
  mariadb_server& server = emptied_mariadb();
  server.query(create_articles);
  actor a(p.line, "request 1"), b(p.line, "request 2"), table(p.line, "the table");
  mariadb_link first = server.link(), second = server.link();
  first.query("BEGIN");
  const auto id = std::to_string(first.query("INSERT INTO article (title) VALUES ('')").insert_id);
  a.note("BEGIN; INSERT INTO article: id " + id + ". The form is sent to the editor with this id");
  std::this_thread::sleep_for(100ms);
  server.kill_connection(first.id());
  a.bad("the process crashes before COMMIT: the server rolls back");
  std::this_thread::sleep_for(100ms);
  const auto changed = second.query("UPDATE article SET title='Hello' WHERE id=" + id).affected;
  b.bad("the editor submits. UPDATE article ... WHERE id=" + id + ": OK, " +
        std::to_string(changed) + " rows; the form says \"saved\"");
  const auto stored = server.query("SELECT COUNT(*) FROM article").number();
  table.bad("has " + std::to_string(stored) + " articles");
  std::this_thread::sleep_for(50ms);
  p.ends(changed == 0 && stored == 0,
         "the id was handed out before it was certain. The text is lost, "
         "and no statement has failed.");
}

void rollback_draft(play& p) {
  mariadb_server& server = emptied_mariadb();
  server.query(create_articles);
  actor a(p.line, "request 1"), b(p.line, "request 2"), table(p.line, "the table");
  sql_client second(server);
  std::int64_t id = 0;
  {
    sql_client first(server);
    id = draft_table(first.own, {.table = "article"}).create().id;
    a.note("draft_table::create(), committed: id " + std::to_string(id) +
           ", a draft. The form is sent with this id");
    std::this_thread::sleep_for(100ms);
    server.kill_connection(first.link.id());
    a.note("the process crashes");
  }
  std::this_thread::sleep_for(100ms);
  draft_table articles(second.own, {.table = "article"});
  auto opened = articles.open(id);
  require(opened.has_value(), "the draft exists");
  const draft_status done = articles.submit(*opened, {{"title", "Hello"}});
  b.good("the editor submits. open(), submit(): done");
  const auto stored =
      server.query("SELECT COUNT(*) FROM article WHERE NOT is_draft AND title='Hello'").number();
  table.good("has " + std::to_string(stored) + " article, and no draft");
  std::this_thread::sleep_for(50ms);
  p.ends(done != draft_status::done || stored != 1,
         "the row exists, as a draft, before its id leaves "
         "the program.");
}

void rollback_reported(play& p) {
  mariadb_server& server = emptied_mariadb();
  server.query(create_articles);
  actor a(p.line, "request 1"), b(p.line, "request 2");
  sql_client second(server);
  draft lost;
  {
    sql_client first(server);
    first.link.query("BEGIN");
    lost = draft_table(first.own, {.table = "article"}).create();
    a.note("draft_table::create() inside a transaction: id " + std::to_string(lost.id));
    std::this_thread::sleep_for(100ms);
    server.kill_connection(first.link.id());
    a.bad("the process crashes before COMMIT: the server rolls back");
  }
  std::this_thread::sleep_for(100ms);
  const draft_status status =
      draft_table(second.own, {.table = "article"}).submit(lost, {{"title", "Hello"}});
  b.good("the editor submits. submit(): gone. The form keeps the text and says so");
  std::this_thread::sleep_for(50ms);
  p.ends(status != draft_status::gone, "the mistake is the same, but the submit reports it.");
}

}  // namespace

std::vector<story> mysql_data_stories() {
  return {
      {"rolled-back-insert",
       "An optimistic insert is rolled back",
       "A form for a new article needs an id, so the row is inserted when the form is opened. The "
       "transaction of that insert is rolled back after the id was handed out.",
       "An id is certain after COMMIT, and an UPDATE of no rows is no error for the server. A "
       "draft is committed before its id is used, and a submit reports a draft that is gone.",
       server::mariadb,
       {{"INSERT in an open transaction, UPDATE later", verdict::breaks, rollback_naive},
        {"holdfast, draft_table, committed", verdict::stands, rollback_draft},
        {"holdfast, draft_table, not committed", verdict::stands, rollback_reported}}},
      {"oversell",
       "Two shops sell ten items",
       "Two shops sell from one stock of ten items. Each reads the number, sells one item and "
       "writes the number less one.",
       "Read, compute and write must be one step for the others: under a lock, or with a version "
       "that the write compares.",
       server::mariadb,
       {{"SELECT, then UPDATE", verdict::breaks, oversell_naive},
        {"holdfast, a lock", verdict::stands, oversell_locked},
        {"holdfast, optimistic_table", verdict::stands, oversell_optimistic}}},
  };
}

}  // namespace holdfast::lab
