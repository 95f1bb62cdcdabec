// One server: the one that redis://host names, or the one that sentinels name.
#pragma once
#include "backend/redis/topologies/topology.hpp"

namespace holdfast::redis {

class single : public topology {
 public:
  single(io::client_reactor& r, const endpoint& e, std::span<const script> all_scripts)
      : one_(r, e, all_scripts) {}
  std::span<transport* const> nodes() noexcept override { return {&node_, 1}; }
  transport& node_of(std::string_view) noexcept override { return one_; }
  bool is_open() const noexcept override { return one_.is_open(); }
  base::failure why_not_open(bool is_overdue) const override {
    return one_.why_not_open(is_overdue);
  }
  seam::connection_status status() const override { return one_.read_status(); }
  bool is_unavailable() const noexcept override { return one_.is_unavailable(); }

 protected:
  transport one_;

 private:
  transport* const node_ = &one_;
};

}  // namespace holdfast::redis
