#include "backend/zookeeper/transport/server_list.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::zookeeper {

namespace {

constexpr base::duration longest_pause = std::chrono::seconds{2};
constexpr double pause_share = 0.25;

}  // namespace

server_list::server_list(std::vector<base::address> all, base::duration retry_base,
                         base::environment& env)
    : env_(env), all_(std::move(all)), retry_base_(retry_base) {
  for (std::size_t left = all_.size(); left > 1; --left)
    std::swap(all_[left - 1], all_[base::random_u64(env_) % left]);
}

base::duration server_list::on_failed() {
  advance();
  const unsigned in_a_row = failures_++;
  if (in_a_row < all_.size()) return {};
  const auto rounds = static_cast<unsigned>(in_a_row / all_.size());
  const unsigned doublings = std::min(rounds, 11u) - 1;
  return base::jittered(env_, std::min(longest_pause, retry_base_ * (1u << doublings)),
                        pause_share);
}

}  // namespace holdfast::zookeeper
