#include "backend/zookeeper/layouts/kazoo/codec.hpp"

namespace holdfast::zookeeper::kazoo {

namespace {

marked_rules rules_of(kind k, const std::vector<std::string>& extra) {
  const unsigned shared = k == kind::read_write ? seam::bit_of(lock_mode::shared) : 0;
  marked_rules out{.can = abilities(seam::bit_of(lock_mode::exclusive) | shared),
                   .markers = {{"__lock__", lock_mode::exclusive}},
                   .has_plain_guid = true,
                   .needs_digits = true,
                   .parent = node_kind::persistent};
  if (shared != 0) out.markers.push_back({"__rlock__", lock_mode::shared});
  for (const std::string& text : extra) out.markers.push_back({text, lock_mode::exclusive});
  return out;
}

}  // namespace

codec::codec(kind k, const std::vector<std::string>& extra) : marked_codec(rules_of(k, extra)) {}

}  // namespace holdfast::zookeeper::kazoo
