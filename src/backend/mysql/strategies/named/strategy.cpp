#include "backend/mysql/strategies/named/strategy.hpp"

#include "backend/mysql/strategies/named/queries.hpp"

namespace holdfast::mysql::named {

strategy::strategy(base::environment& env, const settings& s)
    : pinned::strategy(env, s, texts_), texts_(s.database, s.prefix) {}

void strategy::holders(std::string_view name, seam::holders_handler& to) {
  start_holders_query(over(), texts_.holder(texts_.key_of(name)), name, to);
}

std::optional<failure> strategy::opened() const {
  return is_ready_ ? std::optional(failure()) : std::nullopt;
}

}  // namespace holdfast::mysql::named
