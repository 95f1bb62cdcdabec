// What a link asks of the server for itself.
#pragma once
#include <vector>

#include "backend/redis/link.hpp"

namespace holdfast::redis {

struct link::raise_answer final : answerer {
  explicit raise_answer(link& l) noexcept : home(l) {}
  void answered(const value&, time_point now, time_point sent, core::crier&) override;
  void cut(time_point now, core::crier&) override;
  link& home;
};

struct link::time_answer final : answerer {  // TIME; and whatever is of no interest
  explicit time_answer(link& l) noexcept : home(l) {}
  void answered(const value&, time_point now, time_point sent, core::crier&) override;
  void cut(time_point, core::crier&) override { home.sampling_ = false; }
  link& home;
};

// Questions of claims that went out as one: takes in a transaction, or what let_go.lua frees.
struct link::crowd final : answerer {
  explicit crowd(link& l) noexcept : home(l) {}
  void answered(const value&, time_point now, time_point sent, core::crier&) override;
  void cut(time_point now, core::crier&) override;
  void end() noexcept;
  link& home;
  std::vector<sent_request> members;
};

struct link::batch final : answerer {  // renewals that went out together
  struct entry {
    claim_table::place whose;
    std::uint32_t epoch = 0;
    std::uint32_t ticket = 0;
    duration ttl{};
    bool told = false;
  };
  explicit batch(link& l) noexcept : home(l) {}
  void answered(const value&, time_point now, time_point sent, core::crier&) override;
  void cut(time_point now, core::crier&) override;
  void end() noexcept;
  link& home;
  std::vector<entry> entries;
};

}  // namespace holdfast::redis
