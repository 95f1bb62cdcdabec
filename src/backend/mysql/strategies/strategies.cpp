#include "backend/mysql/strategies/strategies.hpp"

#include <algorithm>
#include <iterator>

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
  bool pins;
  bool is_offered;  // in URLs; the others are played by tests only
};

constexpr entry all_strategies[] = {
    {default_strategy, make<row::strategy>, false, true},
    {"insert", make<insert::strategy>, false, true},
    {"named", make<named::strategy>, true, false},
};

const entry* strategy_of(std::string_view name) noexcept {
  const auto found = std::ranges::find(all_strategies, name, &entry::name);
  return found == std::end(all_strategies) ? nullptr : found;
}

}  // namespace

bool is_strategy(std::string_view name) noexcept {
  const entry* const found = strategy_of(name);
  return found && found->is_offered;
}

bool pins_connections(std::string_view name) noexcept { return strategy_of(name)->pins; }

std::string strategy_names() {
  std::string out;
  for (const entry& e : all_strategies)
    if (e.is_offered) out += (out.empty() ? "" : ", ") + std::string(e.name);
  return out;
}

std::unique_ptr<strategy> make_strategy(base::environment& env, const settings& s) {
  return strategy_of(s.strategy)->maker(env, s);
}

}  // namespace holdfast::mysql
