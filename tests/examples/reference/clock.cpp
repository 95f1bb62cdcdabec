#include <holdfast/holdfast.hpp>

#include <chrono>
#include <ctime>

std::time_t when_it_expires(const holdfast::lease& lease) {
  return std::chrono::system_clock::to_time_t(holdfast::lease_clock::to_sys(lease.expires()));
}
