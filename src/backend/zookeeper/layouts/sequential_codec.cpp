#include "backend/zookeeper/layouts/sequential_codec.hpp"

#include <algorithm>
#include <cstdio>

namespace holdfast::zookeeper {

std::string text_of(const guid& g) {
  char text[37];
  const auto part = [](std::uint64_t of, int shift, unsigned mask) {
    return static_cast<unsigned>(of >> shift) & mask;
  };
  std::snprintf(text, sizeof text, "%08x-%04x-%04x-%04x-%04x%08x", part(g.high, 32, 0xffffffff),
                part(g.high, 16, 0xffff), part(g.high, 0, 0xffff), part(g.low, 48, 0xffff),
                part(g.low, 32, 0xffff), part(g.low, 0, 0xffffffff));
  return text;
}

std::string_view sequence_of(std::string_view name, std::string_view marker) noexcept {
  const std::size_t at = name.rfind(marker);
  return at == std::string_view::npos ? std::string_view() : name.substr(at + marker.size());
}

std::vector<std::string_view> ordered_by(std::string_view marker, node_names all) {
  std::vector<std::string_view> out;
  out.reserve(all.size());
  for (const std::string_view name : all)
    if (name.rfind(marker) != std::string_view::npos) out.push_back(name);
  std::ranges::stable_sort(out, {},
                           [&](std::string_view name) { return sequence_of(name, marker); });
  return out;
}

}  // namespace holdfast::zookeeper
