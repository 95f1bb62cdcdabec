// What a shard in memory needs besides its locks.
#pragma once
#include <string_view>

#include "backend/redis/extensions.hpp"
#include "seam/connection.hpp"
#include "seam/lock_store.hpp"

namespace holdfast::redis {

class bare_shard : public seam::lock_store, public seam::connection, protected grant_counters {
 public:
  // lock_store
  const seam::capabilities& can() const noexcept override { return abilities_; }
  void inspect(std::string_view, seam::holders_handler& to) override { to.on_result({}); }
  void holders(std::string_view, seam::holders_handler& to) override { to.on_result({}); }
  void break_lock(std::string_view, std::string_view, seam::decision_handler& to) override {
    to.on_result(false);
  }
  // connection
  void diagnose(seam::findings_handler& to) override { to.on_result({}); }
  bool close(base::time_point) override { return true; }
  void forked() noexcept override {}

 private:
  void* find_extension(const std::type_info& wanted) noexcept override {
    return offer<grant_counters>(*this, wanted);
  }

  seam::capabilities abilities_;
};

}  // namespace holdfast::redis
