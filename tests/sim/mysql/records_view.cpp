#include "tests/sim/mysql/records_view.hpp"

#include "tests/sim/mysql/strategies.hpp"

namespace holdfast::sim {

void records_view::served(std::string_view client, std::string_view requests) {
  for (int lock = 0; lock < static_cast<int>(names_.size()); ++lock) {
    const auto owner = owner_at(lock);
    if (owner && !clients_.contains(owner->text) && requests.find(owner->text) != requests.npos)
      clients_.emplace(owner->text, client);
  }
}

std::string_view records_view::client_in(std::string_view id) const {
  const auto found = clients_.find(id);
  return found == clients_.end() ? std::string_view() : found->second;
}

// The lease of a record begins at its update_time. The last millisecond in which the lock has this
// owner is the one before the end of the lease.
std::optional<owner_seen> records_view::owner_at(int lock) const {
  const owning_table& records = store_.strategy().owners.front();
  const sql_table* const t = store_.server().table(records.name);
  if (!t) return std::nullopt;
  const std::size_t key = t->column(records.key), owner = t->column("owner");
  const std::size_t time = t->column("update_time"), lease = t->column("lease_ms");
  for (const sql_cells& row : t->rows) {
    if (row[key].bytes != names_[static_cast<std::size_t>(lock)]) continue;
    const std::int64_t ends_us = row[time].value + row[lease].value * 1000;
    return owner_seen{row[owner].bytes, ends_us / 1000 - 1};
  }
  return std::nullopt;
}

}  // namespace holdfast::sim
