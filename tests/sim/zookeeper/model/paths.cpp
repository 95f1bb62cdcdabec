#include "tests/sim/zookeeper/model/paths.hpp"

namespace holdfast::sim::zk {

bool is_valid(std::string_view path) {
  if (path.empty() || path.front() != '/') return false;
  if (path == "/") return true;
  if (path.back() == '/') return false;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) return false;
  }
  for (std::string_view rest = path.substr(1); !rest.empty();) {
    const std::size_t end = rest.find('/');
    const std::string_view part = rest.substr(0, end);
    if (part.empty() || part == "." || part == "..") return false;
    rest = end == rest.npos ? std::string_view() : rest.substr(end + 1);
  }
  return true;
}

bool may_be_removed(std::string_view path) {
  return path.find('/') != path.npos && path != "/" && path != "/zookeeper" &&
         path != "/zookeeper/quota" && path != "/zookeeper/config";
}

}  // namespace holdfast::sim::zk
