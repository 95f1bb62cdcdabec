#include "tests/sim/mysql/strategies.hpp"

#include <algorithm>

#include "backend/mysql/strategies/named/strategy.hpp"
#include "backend/mysql/strategies/pinned/grant_number.hpp"
#include "backend/mysql/strategies/row/strategy.hpp"
#include "tests/sim/mysql/named_view.hpp"
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
  const auto& all = s.server().numbered();
  const auto found = std::find_if(all.rbegin(), all.rend(), [&](const auto& each) {
    return mysql::pinned::number_of(each.first) == number;
  });
  return named_view::id_of(found == all.rend() ? 0 : found->second);
}

template <class View>
std::unique_ptr<lock_view> view_of(mysql_store& s, const std::vector<std::string>& lock_names) {
  return std::make_unique<View>(s, lock_names);
}

const std::vector<played_strategy>& all_strategies_played() {
  // A waiter without a bell naps for two seconds. A named lock has another waiter first, whose
  // connection is lost, until the server closes that.
  static const std::vector<played_strategy> all{
      {.name = "row",
       .can = mysql::row::abilities,
       .longest_pause = 2500ms,
       .claim_of = owner_of_row,
       .view = view_of<rows_view>},
      {.name = "named",
       .can = mysql::named::abilities,
       .longest_pause = 1s,
       .claim_of = request_of_number,
       .view = view_of<named_view>},
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
