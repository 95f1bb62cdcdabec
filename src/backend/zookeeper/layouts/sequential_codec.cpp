#include "backend/zookeeper/layouts/sequential_codec.hpp"

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

}  // namespace holdfast::zookeeper
