#include "backend/mysql/strategies/strategies.hpp"

#include <algorithm>
#include <iterator>

#include "backend/mysql/strategies/for_update/strategy.hpp"
#include "backend/mysql/strategies/insert/strategy.hpp"
#include "backend/mysql/strategies/named/strategy.hpp"
#include "backend/mysql/strategies/row/strategy.hpp"

namespace holdfast::mysql {

namespace {

using made_strategy = std::unique_ptr<strategy>;

template <class Strategy>
made_strategy make(base::environment& env, const settings& s) {
  return std::make_unique<Strategy>(env, s);
}

struct entry {
  std::string_view name;
  made_strategy (*maker)(base::environment&, const settings&);
  std::string_view table;  // its default; empty: the strategy has none
  bool pins;
};

constexpr entry all_strategies[] = {
    {default_strategy, make<row::strategy>, "holdfast_locks", false},
    {"for-update", make<for_update::strategy>, "holdfast_row_locks", true},
    {"insert", make<insert::strategy>, "holdfast_records", false},
    {"named", make<named::strategy>, {}, true},
};

const entry* strategy_of(std::string_view name) noexcept {
  const auto found = std::ranges::find(all_strategies, name, &entry::name);
  return found == std::end(all_strategies) ? nullptr : found;
}

}  // namespace

bool is_strategy(std::string_view name) noexcept { return strategy_of(name) != nullptr; }

std::string_view default_table_of(std::string_view name) noexcept {
  return strategy_of(name)->table;
}

bool pins_connections(std::string_view name) noexcept { return strategy_of(name)->pins; }

std::string strategy_names() {
  std::string out;
  for (const entry& e : all_strategies) out += (out.empty() ? "" : ", ") + std::string(e.name);
  return out;
}

std::unique_ptr<strategy> make_strategy(base::environment& env, const settings& s) {
  return strategy_of(s.strategy)->maker(env, s);
}

}  // namespace holdfast::mysql
