#include "survey/sockets.hpp"

// The kernel's header: that of the C library has no counters of bytes, and both cannot be included
// together. So this file is compiled alone.
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <map>

namespace survey {
namespace {

namespace fs = std::filesystem;

// The descriptors by what they are: a number is used again, "socket:[INODE]" is not.
std::map<std::string, int> sockets_of_process() {
  std::map<std::string, int> all;
  for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
    std::error_code closed_meanwhile;
    const std::string target = fs::read_symlink(entry.path(), closed_meanwhile).string();
    if (target.starts_with("socket:")) all[target] = std::atoi(entry.path().filename().c_str());
  }
  return all;
}

std::set<std::string> names_of_sockets() {
  std::set<std::string> names;
  for (const auto& [name, descriptor] : sockets_of_process()) names.insert(name);
  return names;
}

double bytes_of(int descriptor) {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return 0;
  if (size < offsetof(tcp_info, tcpi_bytes_received) + sizeof info.tcpi_bytes_received) return 0;
  return static_cast<double>(info.tcpi_bytes_acked) + static_cast<double>(info.tcpi_bytes_received);
}

}  // namespace

new_sockets::new_sockets() : older_(names_of_sockets()) {}

double new_sockets::bytes() const {
  double sum = 0;
  for (const auto& [name, descriptor] : sockets_of_process())
    if (!older_.contains(name)) sum += bytes_of(descriptor);
  return sum;
}

}  // namespace survey
