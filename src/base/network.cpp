#include "base/network.hpp"

namespace holdfast::base {

std::string text_of(const address& a) {
  if (!a.path.empty()) return a.path;
  const bool is_ipv6 = a.host.find(':') != std::string::npos;
  return (is_ipv6 ? '[' + a.host + ']' : a.host) + ':' + std::to_string(a.port);
}

}  // namespace holdfast::base
