// Locks that are records of strategy `insert`. An id is the owner that a record names. A record
// names no client: each id is the client's that first sent it.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "tests/sim/judge/lock_view.hpp"
#include "tests/sim/mysql/mysql_store.hpp"

namespace holdfast::sim {

class records_view final : public lock_view {
 public:
  records_view(mysql_store& s, const std::vector<std::string>& lock_names)
      : store_(s), names_(lock_names) {}

  void served(std::string_view client, std::string_view requests) override;
  owner_is kind_of(std::string_view owner) const override {
    return owner.empty() ? owner_is::nobody : owner_is::claim;
  }
  bool is_reader(std::string_view) const override { return false; }
  std::string_view claim_in(std::string_view id) const override { return id; }
  std::string_view client_in(std::string_view id) const override;
  std::int64_t number_of(std::string_view) const override { return 0; }

  std::int64_t now_ms() const override { return store_.wall().count() / 1000; }
  double now_us() const override { return static_cast<double>(store_.wall().count()); }
  bool has_listener(std::string_view) const override { return true; }  // none is told of a grant
  std::optional<owner_seen> owner_at(int lock) const override;
  std::vector<std::string_view> queue_at(int) const override { return {}; }
  std::vector<std::pair<std::string_view, double>> members_at(int) const override { return {}; }
  int permits_of(int, std::string_view) const override { return 1; }
  std::vector<std::string_view> notes_at(int, bool) const override { return {}; }
  bool asks_for_several(std::string_view, std::string_view) const override { return false; }

 private:
  mysql_store& store_;
  const std::vector<std::string> names_;
  std::map<std::string, std::string, std::less<>> clients_;  // by id
};

}  // namespace holdfast::sim
