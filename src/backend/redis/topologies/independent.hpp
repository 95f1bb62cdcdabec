// Several masters that know nothing of each other, as redlock://a,b,c names them. The client is
// open, and available, while a majority of them is.
#pragma once
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "backend/redis/topologies/several_servers.hpp"
#include "backend/redis/topologies/topology.hpp"

namespace holdfast::redis {

class independent final : public topology {
 public:
  // The endpoints outlive it.
  independent(io::client_reactor&, std::span<const endpoint>, std::span<const script> all_scripts);

  std::span<transport* const> nodes() noexcept override { return nodes_; }
  // Every server has every lock; for what only one is asked.
  transport& node_of(std::string_view) noexcept override { return *nodes_.front(); }
  bool is_open() const noexcept override;
  base::failure why_not_open(bool is_overdue) const override;
  seam::connection_status status() const override;
  bool is_unavailable() const noexcept override;

 private:
  std::size_t majority() const noexcept { return majority_of(nodes_.size()); }
  base::failure no_quorum(const failed_servers&) const;  // code {}: they leave a majority

  const std::span<const endpoint> endpoints_;
  std::vector<std::unique_ptr<transport>> all_;
  std::vector<transport*> nodes_;
};

}  // namespace holdfast::redis
