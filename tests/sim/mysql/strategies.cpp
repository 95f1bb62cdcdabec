#include "tests/sim/mysql/strategies.hpp"

#include <algorithm>

#include "backend/mysql/strategies/for_update/strategy.hpp"
#include "backend/mysql/strategies/insert/strategy.hpp"
#include "backend/mysql/strategies/named/strategy.hpp"
#include "backend/mysql/strategies/pinned/strategy.hpp"
#include "backend/mysql/strategies/row/strategy.hpp"
#include "backend/mysql/strategies/strategies.hpp"
#include "tests/sim/mysql/named_view.hpp"
#include "tests/sim/mysql/records_view.hpp"
#include "tests/sim/mysql/row_locks_view.hpp"
#include "tests/sim/mysql/rows_view.hpp"

namespace holdfast::sim {

namespace {

using namespace std::chrono_literals;

std::string owner_of_row(const mysql_store&, const seam::claim& c) {
  return base::text_of(static_cast<const mysql::retrying::claim&>(c).owner_id);
}

// By the number that it drew: ids of connections begin again when the server starts.
std::string request_of_number(const mysql_store& s, const seam::claim& c) {
  const std::int64_t number = static_cast<const mysql::pinned::claim&>(c).recipe().granted().number;
  for (const model_mariadb* const server : s.servers()) {
    const auto& all = server->numbered();
    const auto found = std::find_if(all.rbegin(), all.rend(), [&](const auto& each) {
      return mysql::pinned::number_of(each.first) == number;
    });
    if (found != all.rend()) return named_view::id_of(found->second);
  }
  return named_view::id_of(0);
}

template <class View>
std::unique_ptr<lock_view> view_of(mysql_store& s, const std::vector<std::string>& lock_names) {
  return std::make_unique<View>(s, lock_names);
}

played_strategy rows_of_locks() {
  const std::string table(mysql::default_table_of("row"));
  const mysql::row::statements texts(table);
  return {.name = "row",
          .options = "strategy=row",
          .can = mysql::row::abilities,
          .longest_pause = 2500ms,  // a waiter without a bell naps for two seconds
          .claim_of = owner_of_row,
          .view = view_of<rows_view>,
          .schema = {texts.create_table(), texts.create_members()},
          .owners = {{table, "name"}, {table + std::string(mysql::row::member_suffix), "name"}}};
}

// Statements wait for the only connection, and share commits.
played_strategy rows_by_one_connection() {
  played_strategy out = rows_of_locks();
  out.name = "row-shared";
  out.connections = 1;
  return out;
}

// Those of ?shape=resource and ?shape=order.
mysql::insert::columns columns_of_resources() {
  return {.key = "resource",
          .type = {},
          .note = "description",
          .owner = "owner",
          .count = "count",
          .update_time = "update_time",
          .lease = "lease_ms",
          .type_value = "lock"};
}
mysql::insert::columns columns_of_orders() {
  mysql::insert::columns out = columns_of_resources();
  out.key = "order_id";
  out.type = "type";
  out.note = "memo";
  return out;
}

played_strategy records_of_locks(std::string_view name, std::string_view options,
                                 const mysql::insert::columns& columns) {
  const std::string table(mysql::default_table_of("insert"));
  const mysql::insert::statements texts(table, columns);
  return {.name = name,
          .options = options,
          .can = mysql::insert::abilities,
          // A waiter polls after back_off_max (250 ms) at the latest. It sends up to six statements
          // more, perhaps over a connection that it opens first.
          .longest_pause = mysql::retrying::polling.back_off_max + 750ms,
          .claim_of = owner_of_row,
          .view = view_of<records_view>,
          .schema = {texts.create_records(), texts.create_numbers()},
          .owners = {{table, columns.key}},
          .leaves_expired = true};
}

// Another waiter has the lock first, whose connection is lost, until the server closes that.
constexpr moment pause_of_connections = 1s;

mysql::for_update::statements texts_of_row_locks() {
  return {mysql::default_table_of("for-update"), ""};
}

played_strategy row_locks_of_connections() {
  return {.name = "for-update",
          .options = "strategy=for-update",
          .can = mysql::for_update::abilities,
          .longest_pause = pause_of_connections,
          .claim_of = request_of_number,
          .view = view_of<row_locks_view>,
          .schema = {texts_of_row_locks().create_table()},
          .create_row = [](std::string_view name) {
            return texts_of_row_locks().create(name).text();
          }};
}

played_strategy named_locks_of_server() {
  return {.name = "named",
          .options = "strategy=named",
          .can = mysql::named::abilities,
          .longest_pause = pause_of_connections,
          .claim_of = request_of_number,
          .view = view_of<named_view>};
}

const std::vector<played_strategy>& all_strategies_played() {
  static const std::vector<played_strategy> all{
      rows_of_locks(),
      rows_by_one_connection(),
      named_locks_of_server(),
      records_of_locks("insert", "strategy=insert", columns_of_resources()),
      records_of_locks("insert-order", "strategy=insert&shape=order", columns_of_orders()),
      row_locks_of_connections(),
  };
  return all;
}

}  // namespace

const played_strategy* strategy_named(std::string_view name) {
  const auto& all = all_strategies_played();
  const auto found = std::ranges::find(all, name, &played_strategy::name);
  return found == all.end() ? nullptr : &*found;
}

std::vector<std::string_view> played_strategies() {
  std::vector<std::string_view> out;
  for (const played_strategy& s : all_strategies_played()) out.push_back(s.name);
  return out;
}

}  // namespace holdfast::sim
