#include "backend/zookeeper/transport/chroot.hpp"

#include <algorithm>

namespace holdfast::zookeeper {

// No control characters: the server refuses some of them, and nobody means any.
std::string_view path_fault(std::string_view path) noexcept {
  if (path.empty() || path.front() != '/') return "a path begins with '/'";
  if (path == "/") return {};
  if (path.back() == '/') return "a path does not end with '/'";
  for (const char c : path)
    if (static_cast<unsigned char>(c) < ' ' || c == 127) return "a path has no control characters";
  for (std::size_t at = 0; at < path.size();) {
    const std::size_t end = std::min(path.find('/', at + 1), path.size());
    const std::string_view part = path.substr(at + 1, end - at - 1);
    if (part.empty()) return "a path has no empty part";
    if (part == "." || part == "..") return "a path has no part \".\" or \"..\"";
    at = end;
  }
  return {};
}

std::string creation_of(std::string_view path) {
  std::string out;
  for (std::size_t at = 0; at < path.size();) {
    at = std::min(path.find('/', at + 1), path.size());
    out.append(out.empty() ? "create " : ", create ").append(path.substr(0, at));
  }
  return out;
}

}  // namespace holdfast::zookeeper
