#include "balanced_servers.hpp"

#include <algorithm>
#include <numeric>
#include <thread>

namespace holdfast::redis_test {

balanced_servers::balanced_servers(std::uint64_t seed, int count)
    : dice_(seed), servers_(static_cast<std::size_t>(count)) {
  heal();
}

int balanced_servers::another(int but) {
  for (;;)
    if (const int i = draw(0, count() - 1); i != master_ && i != but) return i;
}

void balanced_servers::appoint(int server) {
  master_ = server;
  right_name.move_to(at(server));
}

void balanced_servers::lead_at_random(const std::vector<int>& servers) {
  std::vector<int> ports;
  for (const int i : servers) ports.push_back(at(i).port());
  name.proxy.route_to(ports, dice_());
}

void balanced_servers::lead_to_any() {
  std::vector<int> all(servers_.size());
  std::iota(all.begin(), all.end(), 0);
  lead_at_random(all);
}

void balanced_servers::cut(int server, const std::vector<std::string>& lanes) {
  const auto open = name.open_at(at(server));
  std::vector<std::uint64_t> meant;
  for (const auto& lane : open)
    if (std::ranges::count(lanes, lane.purpose) > 0) meant.push_back(lane.number);
  name.proxy.reset(meant);
}

void balanced_servers::cut_some() {
  std::vector<std::uint64_t> meant;
  for (const auto& c : name.proxy.connections())
    if (draw(0, 1) == 0) meant.push_back(c.number);
  name.proxy.reset(meant);
}

void balanced_servers::heal() {
  for (int i = 0; i < count(); ++i)
    if (i != master_) at(i).replicate(right_master());
  name.proxy.set_both({});
  name.move_to(right_master());
}

void balanced_servers::pause(int least_ms, int most_ms) {
  std::this_thread::sleep_for(std::chrono::milliseconds(draw(least_ms, most_ms)));
}

}  // namespace holdfast::redis_test
