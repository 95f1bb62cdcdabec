// One connection of a link, from connect() until it is closed.
#pragma once
#include "backend/redis/link.hpp"

namespace holdfast::redis {

struct link::cable final : wire {
  cable(link& l, line& x) noexcept : home(l), of(x) {}
  void on_open() override;
  void on_bytes(std::span<const std::byte>) override;
  void on_closed(core::failure) override;

  link& home;
  line& of;
};

}  // namespace holdfast::redis
