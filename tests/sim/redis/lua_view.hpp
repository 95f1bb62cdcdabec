// The locks of layout `lua`: a key with its owner's text.
#pragma once
#include "tests/sim/redis/retrying_view.hpp"

namespace holdfast::sim {

class lua_view final : public retrying_view {
 public:
  using retrying_view::retrying_view;

  owner_is kind_of(std::string_view owner) const override {
    if (owner.empty()) return owner_is::nobody;
    return owner.starts_with("hfl:") ? owner_is::claim : owner_is::foreign;
  }
  std::optional<owner_seen> owner_at(int lock) const override {
    const auto seen = server().string_at(key_of(lock));
    if (!seen) return std::nullopt;
    return owner_seen{seen->text, seen->expires_ms};
  }
};

}  // namespace holdfast::sim
