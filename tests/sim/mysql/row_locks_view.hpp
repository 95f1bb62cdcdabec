// Locks of rows that transactions have, as strategy `for-update` uses them. An id is that of one
// lock of a row.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "tests/sim/judge/lock_view.hpp"
#include "tests/sim/mysql/mysql_store.hpp"

namespace holdfast::sim {

class row_locks_view final : public lock_view {
 public:
  row_locks_view(mysql_store& s, const std::vector<std::string>& lock_names)
      : store_(s), names_(lock_names) {}

  owner_is kind_of(std::string_view owner) const override;
  bool is_reader(std::string_view id) const override;
  std::string_view claim_in(std::string_view id) const override { return id; }
  std::string_view client_in(std::string_view id) const override;
  // A reader that has waited draws its number later.
  std::int64_t number_of(std::string_view) const override { return 0; }

  std::int64_t now_ms() const override { return store_.wall().count() / 1000; }
  double now_us() const override { return static_cast<double>(store_.wall().count()); }
  bool has_listener(std::string_view client) const override { return !client.empty(); }
  std::optional<owner_seen> owner_at(int lock) const override;
  std::vector<std::string_view> queue_at(int) const override { return {}; }
  std::vector<std::pair<std::string_view, double>> members_at(int lock) const override;
  bool is_given_up(int lock, std::string_view id) const override;
  int permits_of(int, std::string_view) const override { return 1; }
  std::vector<std::string_view> notes_at(int, bool) const override { return {}; }
  bool asks_for_several(std::string_view, std::string_view) const override { return false; }

 private:
  std::vector<model_mariadb::row_holder> holders_of(int lock) const;
  std::string_view kept(const model_mariadb::row_holder&) const;

  mysql_store& store_;
  const std::vector<std::string> names_;
  mutable std::map<std::string, std::string, std::less<>> clients_;  // by id
};

}  // namespace holdfast::sim
