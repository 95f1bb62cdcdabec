// The servers of a client, and what the client as a whole can do with them.
#pragma once
#include <holdfast/finding.hpp>

#include <span>
#include <string_view>
#include <vector>

#include "backend/redis/transport/transport.hpp"

namespace holdfast::redis {

class topology {
 public:
  virtual ~topology() = default;
  virtual std::span<transport* const> nodes() noexcept = 0;
  virtual transport& node_of(std::string_view key) noexcept = 0;  // the server that has this key

  // With the reactor's mutex held.
  virtual void open(time_point now) {
    for (transport* t : nodes()) t->open(lane::commands, now);
  }
  virtual bool is_open() const noexcept = 0;
  // Why it will never be open, or, when its time is over, why it is not. Code {}: it may be yet.
  virtual base::failure why_not_open(bool is_overdue) const = 0;
  virtual seam::connection_status status() const = 0;
  // What it knows of other servers than its nodes, for an operator's diagnosis.
  virtual std::vector<finding> findings() const { return {}; }
  // Whether status() would report trouble; with any lock held.
  virtual bool is_unavailable() const noexcept = 0;
};

}  // namespace holdfast::redis
