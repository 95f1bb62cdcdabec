// Locks that are rows, as they are committed. An id is the owner that a row names.
#pragma once
#include <list>
#include <map>
#include <string>
#include <vector>

#include "tests/sim/judge/lock_view.hpp"
#include "tests/sim/mysql/mysql_store.hpp"

namespace holdfast::sim {

class rows_view final : public lock_view {
 public:
  rows_view(mysql_store& s, const std::vector<std::string>& lock_names)
      : store_(s), names_(lock_names) {}

  owner_is kind_of(std::string_view owner) const override;
  bool is_reader(std::string_view id) const override;
  std::string_view claim_in(std::string_view id) const override { return id; }
  std::string_view client_in(std::string_view id) const override;
  std::int64_t number_of(std::string_view group) const override;

  std::int64_t now_ms() const override { return store_.wall().count() / 1000; }
  double now_us() const override { return static_cast<double>(store_.wall().count()); }
  bool has_listener(std::string_view) const override { return true; }  // none is told of a grant
  std::optional<owner_seen> owner_at(int lock) const override;
  std::vector<std::string_view> queue_at(int) const override { return {}; }
  std::vector<std::pair<std::string_view, double>> members_at(int lock) const override;
  bool is_given_up(int lock, std::string_view id) const override;
  int permits_of(int lock, std::string_view id) const override;
  std::vector<std::string_view> notes_at(int, bool) const override { return {}; }
  bool asks_for_several(std::string_view, std::string_view) const override { return false; }

 private:
  struct member {
    std::string_view id;
    std::int64_t ends_us = 0, number = 0;
    int permits = 0;  // 0: it reads
  };
  std::vector<member> members_of(int lock) const;
  // What is shown of it is good for as long as this is.
  std::string_view kept(const std::string& id, const std::string& host) const;

  mysql_store& store_;
  const std::vector<std::string> names_;
  mutable std::map<std::string, std::string, std::less<>> clients_;  // by id
};

}  // namespace holdfast::sim
