// The strategies that ?strategy= names.
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "backend/mysql/settings.hpp"
#include "backend/mysql/strategies/strategy.hpp"

namespace holdfast::mysql {

inline constexpr std::string_view default_strategy = "row";

bool is_strategy(std::string_view name) noexcept;
std::string strategy_names();                                       // "row, for-update, named"
std::string_view default_table_of(std::string_view name) noexcept;  // empty: it has no table
// Whether each of its claims has a connection of its own while it waits or holds.
bool pins_connections(std::string_view name) noexcept;
// The settings outlive it.
std::unique_ptr<strategy> make_strategy(base::environment&, const settings&);

}  // namespace holdfast::mysql
