// The base of the views of all layouts of the retrying recipe: an owner's text names no
// client, so each is the client's that first sent it.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tests/sim/judge/lock_view.hpp"
#include "tests/sim/redis/redis_store.hpp"

namespace holdfast::sim {

class retrying_view : public lock_view {
 public:
  retrying_view(redis_store&, const std::vector<std::string>& lock_names);

  void served(std::string_view client, std::string_view requests) override;
  std::string_view client_in(std::string_view id) const override;

  bool is_reader(std::string_view) const override { return false; }
  std::string_view claim_in(std::string_view id) const override { return id; }
  std::int64_t number_of(std::string_view) const override { return 0; }
  std::int64_t now_ms() const override { return store_.wall().count() / 1000; }
  double now_us() const override { return static_cast<double>(store_.wall().count()); }
  bool has_listener(std::string_view) const override { return true; }  // none is told of a grant
  std::vector<std::string_view> queue_at(int) const override { return {}; }
  std::vector<std::pair<std::string_view, double>> members_at(int) const override { return {}; }
  int permits_of(int, std::string_view) const override { return 1; }
  std::vector<std::string_view> notes_at(int, bool) const override { return {}; }
  bool asks_for_several(std::string_view, std::string_view) const override { return false; }

 protected:
  model_redis& server() const { return store_.server(); }
  const std::string& key_of(int lock) const { return names_[static_cast<std::size_t>(lock)]; }

 private:
  void note(std::string_view id, std::string_view client, std::string_view requests);

  redis_store& store_;
  const std::vector<std::string> names_;
  std::map<std::string, std::string, std::less<>> clients_;  // by claim
};

}  // namespace holdfast::sim
