// Named locks, as the server has them. An id is that of one GET_LOCK.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "tests/sim/judge/lock_view.hpp"
#include "tests/sim/mysql/mysql_store.hpp"

namespace holdfast::sim {

class named_view final : public lock_view {
 public:
  named_view(mysql_store&, const std::vector<std::string>& lock_names);

  static std::string lock_of(const std::string& key);  // its name in the model
  static std::string id_of(std::uint64_t serial) { return 'n' + std::to_string(serial); }

  owner_is kind_of(std::string_view owner) const override;
  bool is_reader(std::string_view) const override { return false; }
  std::string_view claim_in(std::string_view id) const override { return id; }
  std::string_view client_in(std::string_view id) const override;
  std::int64_t number_of(std::string_view) const override { return 0; }

  std::int64_t now_ms() const override { return store_.wall().count() / 1000; }
  double now_us() const override { return static_cast<double>(store_.wall().count()); }
  bool has_listener(std::string_view client) const override { return !client.empty(); }
  std::optional<owner_seen> owner_at(int lock) const override;
  std::vector<std::string_view> queue_at(int lock) const override;
  std::vector<std::pair<std::string_view, double>> members_at(int) const override { return {}; }
  bool is_given_up(int lock, std::string_view id) const override;
  int permits_of(int, std::string_view) const override { return 1; }
  std::vector<std::string_view> notes_at(int, bool) const override { return {}; }
  bool asks_for_several(std::string_view, std::string_view) const override { return false; }

 private:
  std::string_view kept(const named_locks::request&) const;

  mysql_store& store_;
  std::vector<std::string> locks_;
  mutable std::map<std::string, std::string, std::less<>> clients_;  // by id
};

}  // namespace holdfast::sim
