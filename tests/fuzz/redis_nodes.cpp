// Whatever a node of a cluster says of the others is refused or understood, and each slot has one
// shard at most.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "backend/redis/topologies/cluster/slot_map.hpp"

namespace {

using namespace holdfast::redis;

void require(bool fact) {
  if (!fact) std::abort();
}

// The counts of the shards are those of the slots.
void look_at(const slot_map& map) {
  std::size_t claimed = 0, counted = 0;
  for (std::size_t i = 0; i < slot_count; ++i) {
    const auto shard = map.shard_of(static_cast<slot_number>(i));
    require(!shard || *shard < map.shards().size());
    claimed += shard.has_value();
  }
  for (const slot_map::shard& s : map.shards()) counted += s.slots;
  require(claimed == counted);
  require(map.is_whole() == (claimed == slot_count));
}

}  // namespace

// Two answers, one after the other, with an empty line between them.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto middle = text.find("\n\n");
  slot_map map;
  for (const std::string_view part :
       {text.substr(0, middle), middle == text.npos ? text : text.substr(middle + 2)})
    if (const auto nodes = read_cluster_nodes(part, {"asked", 1, {}})) map.learn(*nodes);
  look_at(map);
  return 0;
}
