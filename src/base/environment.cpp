#include "base/environment.hpp"

#include <unistd.h>

#include <array>

#include "base/network.hpp"
#include "base/recording.hpp"

namespace holdfast::base {

process_identity environment::process() {
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) host[0] = '\0';
  return {host.data(), ::getpid()};
}

std::unique_ptr<recording> environment::make_recording(const recording_terms&, failure&) {
  return nullptr;
}

std::unique_ptr<event_loop> environment::make_loop(loop_user&, driven_by, const char*) {
  return nullptr;
}

duration jittered(environment& env, duration d, double share) noexcept {
  constexpr double steps = 9007199254740992.0;  // 2^53: the values that a double distinguishes
  const double unit = static_cast<double>(random_u64(env) >> 11) / steps;  // 0 to below 1
  const double moved = static_cast<double>(d.count()) * (1 + share * (2 * unit - 1));
  constexpr auto most = static_cast<double>(duration::max().count());
  if (!(moved > 0)) return duration::zero();
  return moved >= most ? duration::max() : duration{static_cast<duration::rep>(moved)};
}

}  // namespace holdfast::base
