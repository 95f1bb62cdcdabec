#include "tests/sim/mysql/row_locks_view.hpp"

#include <algorithm>

#include "backend/mysql/strategies/strategies.hpp"
#include "tests/sim/mysql/named_view.hpp"

namespace holdfast::sim {

namespace {

constexpr std::string_view readers_of_row = "readers";
// When a connection ends is up to others.
constexpr std::int64_t end_of_row_lock_ms = 1'000'000;

}  // namespace

owner_is row_locks_view::kind_of(std::string_view owner) const {
  if (owner.empty()) return owner_is::nobody;
  return owner == readers_of_row ? owner_is::readers : owner_is::claim;
}

std::vector<model_mariadb::row_holder> row_locks_view::holders_of(int lock) const {
  static const std::string table(mysql::default_table_of("for-update"));
  return store_.server().holders_of_row(table, names_[static_cast<std::size_t>(lock)]);
}

bool row_locks_view::is_reader(std::string_view id) const {
  for (int lock = 0; lock < static_cast<int>(names_.size()); ++lock)
    for (const model_mariadb::row_holder& h : holders_of(lock))
      if (kept(h) == id) return h.is_shared;
  return false;
}

std::string_view row_locks_view::kept(const model_mariadb::row_holder& h) const {
  const auto [place, is_new] = clients_.try_emplace(named_view::id_of(h.serial));
  if (place->second.empty()) place->second = store_.user_of(h.connection);
  return place->first;
}

std::string_view row_locks_view::client_in(std::string_view id) const {
  const auto found = clients_.find(id);
  return found == clients_.end() ? std::string_view() : found->second;
}

std::optional<owner_seen> row_locks_view::owner_at(int lock) const {
  const auto holders = holders_of(lock);
  if (holders.empty()) return std::nullopt;
  const bool is_shared = holders.front().is_shared;
  return owner_seen{is_shared ? readers_of_row : kept(holders.front()),
                    now_ms() + end_of_row_lock_ms};
}

std::vector<std::pair<std::string_view, double>> row_locks_view::members_at(int lock) const {
  std::vector<std::pair<std::string_view, double>> out;
  const double end_us = now_us() + static_cast<double>(end_of_row_lock_ms) * 1000;
  for (const model_mariadb::row_holder& h : holders_of(lock))
    if (h.is_shared) out.emplace_back(kept(h), end_us);
  return out;
}

// Its client has lost the connection, which the server does not know yet.
bool row_locks_view::is_given_up(int lock, std::string_view id) const {
  return std::ranges::any_of(holders_of(lock), [&](const model_mariadb::row_holder& h) {
    return kept(h) == id && store_.is_given_up(h.connection);
  });
}

}  // namespace holdfast::sim
