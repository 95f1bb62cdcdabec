// The last items of a stock in MariaDB, sold by several servers without a lock: each reads the row,
// charges the customer, and writes the row back if it is still the one that was read.
//
//   last_items URL        of a database: mysql://user:password@host/database
//
// It creates the table holdfast_last_items there, and drops it.
#include <mysql.h>
#include <holdfast/optimistic.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace hf = holdfast;
using namespace std::chrono_literals;

constexpr int items = 20, servers = 6, customers_each = 10;

const hf::versioned_table stock_table{.table = "holdfast_last_items", .key = {"shop", "item"}};
const hf::sql_columns pens{{"shop", "Main Street"}, {"item", 7}};

void run(const hf::mysql_connection& c, const std::string& statement) {
  if (mysql_query(c.handle(), statement.c_str()) != 0)
    throw std::runtime_error(mysql_error(c.handle()));
}

// Between the read and the write another server may sell the same item.
bool sell_without_a_version(const hf::mysql_connection& c) {
  hf::optimistic_table stock(c, stock_table);
  const auto left = std::get<std::int64_t>(stock.read(pens)->values.at("available"));
  if (left == 0) return false;
  std::this_thread::sleep_for(1ms);  // the customer pays
  run(c, "UPDATE holdfast_last_items SET available=" + std::to_string(left - 1) +
             " WHERE shop='Main Street' AND item=7");
  return true;
}

bool sell(const hf::mysql_connection& c) {
  hf::optimistic_table stock(c, stock_table);
  const hf::update_outcome outcome =
      stock.update(pens,
                   [](const hf::sql_columns& row) -> std::optional<hf::sql_columns> {
                     const auto left = std::get<std::int64_t>(row.at("available"));
                     if (left == 0) return std::nullopt;  // sold out: the row stays as it is
                     std::this_thread::sleep_for(
                         1ms);  // the customer's card is checked, not charged yet
                     return hf::sql_columns{{"available", left - 1}};
                   },
                   {.attempts = 10'000});
  return outcome.status == hf::update_status::written;
}

// So many items were sold by all servers together, each with a connection of its own.
template <class Sell>
int hold_a_sale(const hf::url& where, Sell sell_one) {
  const auto c = hf::mysql_connection::open(where);
  run(c, "CREATE OR REPLACE TABLE holdfast_last_items (shop VARCHAR(40), item INT, available INT"
         " NOT NULL, version BIGINT NOT NULL DEFAULT 0, PRIMARY KEY (shop, item)) ENGINE=InnoDB");
  run(c, "INSERT INTO holdfast_last_items (shop, item, available) VALUES ('Main Street', 7, " +
             std::to_string(items) + ")");
  std::atomic<int> sold = 0;
  std::vector<std::jthread> all;
  for (int i = 0; i < servers; ++i)
    all.emplace_back([&] {
      const auto own = hf::mysql_connection::open(where);
      for (int customer = 0; customer < customers_each; ++customer) sold += sell_one(own);
    });
  all.clear();  // joins
  run(c, "DROP TABLE holdfast_last_items");
  return sold;
}

int main(int argc, char** argv) try {
  if (argc < 2) throw std::runtime_error("name a database: mysql://user:password@host/database");
  const auto where = hf::url::parse(argv[1]).with("op-timeout", "60s");
  const int naive = hold_a_sale(where, sell_without_a_version);
  const int checked = hold_a_sale(where, sell);
  std::printf("%d items in stock\nwithout a version %d were sold\nwith the version  %d\n", items,
              naive, checked);
  return checked == items ? 0 : 1;
} catch (const std::exception& e) {
  std::fprintf(stderr, "last_items: %s\n", e.what());
  return 1;
}
