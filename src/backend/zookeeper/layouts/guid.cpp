#include "backend/zookeeper/layouts/guid.hpp"

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

guid random_guid(core::environment& env) {
  constexpr std::uint64_t version_mask = 0xf000, version_4 = 0x4000;
  constexpr std::uint64_t variant_mask = 3ull << 62, variant = 2ull << 62;
  guid out;
  out.high = (core::random_u64(env) & ~version_mask) | version_4;
  out.low = (core::random_u64(env) & ~variant_mask) | variant;
  return out;
}

}  // namespace holdfast::zookeeper
