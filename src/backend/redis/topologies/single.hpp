// One server, as redis://host names it.
#pragma once
#include "backend/redis/topologies/topology.hpp"

namespace holdfast::redis {

class single final : public topology {
 public:
  single(io::client_reactor& r, const endpoint& e, request_source& source,
         std::span<const script> all_scripts)
      : one_(r, e, source, all_scripts) {}
  std::span<transport* const> nodes() noexcept override { return {&node_, 1}; }

 private:
  transport one_;
  transport* const node_ = &one_;
};

}  // namespace holdfast::redis
