#include "tests/sim/mysql/rows_view.hpp"

#include <algorithm>
#include <charconv>

#include "backend/mysql/strategies/row/statements.hpp"
#include "backend/mysql/strategies/strategies.hpp"

namespace holdfast::sim {

namespace {

constexpr std::string_view permits_of_rows = "permits";

std::string table_name(bool of_members) {
  std::string out(mysql::default_table_of(mysql::default_strategy));
  return of_members ? out + std::string(mysql::row::member_suffix) : out;
}

// Of a lease: in it, and in no later one, the lock has this owner.
std::int64_t last_ms_of(std::int64_t ends_us) { return ends_us / 1000 - 1; }

}  // namespace

owner_is rows_view::kind_of(std::string_view owner) const {
  if (owner.empty()) return owner_is::nobody;
  if (owner == permits_of_rows) return owner_is::permits;
  return mysql::row::number_of_group(owner) > 0 ? owner_is::readers : owner_is::claim;
}

bool rows_view::is_reader(std::string_view id) const {
  for (int lock = 0; lock < static_cast<int>(names_.size()); ++lock)
    for (const member& m : members_of(lock))
      if (m.id == id) return m.permits == 0;
  return false;
}

std::string_view rows_view::client_in(std::string_view id) const {
  const auto found = clients_.find(id);
  return found == clients_.end() ? std::string_view() : found->second;
}

std::int64_t rows_view::number_of(std::string_view group) const {
  return mysql::row::number_of_group(group);
}

// A row names the host of its owner, which is the machine of one client.
std::string_view rows_view::kept(const std::string& id, const std::string& host) const {
  constexpr std::string_view before_number = "machine";
  const auto [place, is_new] = clients_.try_emplace(id);
  if (is_new && host.starts_with(before_number))
    place->second = "client" + host.substr(before_number.size());
  return place->first;
}

std::vector<rows_view::member> rows_view::members_of(int lock) const {
  std::vector<member> out;
  const sql_table* const t = store_.server().table(table_name(true));
  if (!t) return out;
  const auto column = [&](const char* name) { return t->column(name); };
  for (const sql_cells& row : t->rows) {
    if (row[column("name")].bytes != names_[static_cast<std::size_t>(lock)]) continue;
    member& m = out.emplace_back();
    m.id = kept(row[column("owner")].bytes, row[column("host")].bytes);
    m.ends_us = row[column("expires_at")].value;
    m.number = row[column("grant_number")].value;
    m.permits = static_cast<int>(row[column("permits")].value);
  }
  return out;
}

// Of those whose leases have ended some may stay.
std::optional<owner_seen> rows_view::owner_at(int lock) const {
  std::int64_t last_us = 0, number = 0;
  bool reads = false;
  for (const member& m : members_of(lock)) {
    if (m.ends_us <= store_.wall().count()) continue;
    last_us = std::max(last_us, m.ends_us);
    number = m.number;
    reads = m.permits == 0;
  }
  if (last_us > 0)
    return owner_seen{reads ? kept(mysql::row::text_of_group(number), {}) : permits_of_rows,
                      last_ms_of(last_us)};
  const sql_table* const t = store_.server().table(table_name(false));
  if (!t) return std::nullopt;
  for (const sql_cells& row : t->rows) {
    if (row[t->column("name")].bytes != names_[static_cast<std::size_t>(lock)]) continue;
    const std::string& owner = row[t->column("owner")].bytes;
    if (owner.empty()) break;
    return owner_seen{kept(owner, row[t->column("host")].bytes),
                      last_ms_of(row[t->column("expires_at")].value)};
  }
  return std::nullopt;
}

std::vector<std::pair<std::string_view, double>> rows_view::members_at(int lock) const {
  std::vector<std::pair<std::string_view, double>> out;
  for (const member& m : members_of(lock)) out.emplace_back(m.id, static_cast<double>(m.ends_us));
  return out;
}

// A transaction of a client that is gone keeps the row locked: a release has to wait for its end.
bool rows_view::is_given_up(int lock, std::string_view) const {
  return store_.is_kept_by_the_gone(table_name(false), names_[static_cast<std::size_t>(lock)]);
}

int rows_view::permits_of(int lock, std::string_view id) const {
  for (const member& m : members_of(lock))
    if (m.id == id) return m.permits;
  return 1;
}

}  // namespace holdfast::sim
