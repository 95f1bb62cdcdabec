#include "backend/zookeeper/layouts/curator_semaphore/codec.hpp"

#include <algorithm>
#include <charconv>

#include "backend/zookeeper/layouts/curator/codec.hpp"
#include "backend/zookeeper/layouts/node_sequence.hpp"
#include "base/mutant.hpp"
#include "base/number.hpp"

namespace holdfast::zookeeper::curator_semaphore {

namespace {

constexpr std::string_view before_guid = "_c_";
constexpr std::string_view lease_marker = "-lease-";

// In `high`: version 8, and what tells these from others of that version.
constexpr std::uint64_t tag_mask = 0xffff, tag = 0x8f1d;
constexpr std::uint64_t total_mask = 0xffffffff;

std::string_view owner_of(std::string_view name) noexcept {
  const std::size_t at = name.rfind(lease_marker);
  return at == std::string_view::npos ? name : name.substr(0, at);
}

// Before all others where it has none: it counts for everybody.
std::int64_t sequence_of(std::string_view name) noexcept {
  constexpr std::string_view marker = "lease-";
  const std::size_t at = name.rfind(marker);
  if (at == std::string_view::npos || name.size() != at + marker.size() + sequence_length)
    return -1;
  return base::whole_number<std::int64_t>(name.substr(name.size() - sequence_length)).value_or(-1);
}

// 0: it is not known.
std::uint32_t total_of(std::string_view owner) noexcept {
  constexpr std::size_t tag_at = 14, total_at = 28, tag_length = 4, total_length = 8;
  if (!owner.starts_with(before_guid) || owner.size() != before_guid.size() + base::uuid_length)
    return 0;
  const char* const id = owner.data() + before_guid.size();
  std::uint32_t found = 0, out = 0;
  std::from_chars(id + tag_at, id + tag_at + tag_length, found, 16);
  if (found != tag) return 0;
  std::from_chars(id + total_at, id + total_at + total_length, out, 16);
  return out;
}

struct placed_lease {
  std::string_view name;
  std::int64_t sequence;
};

std::vector<placed_lease> in_order(node_names all) {
  std::vector<placed_lease> out;
  out.reserve(all.size());
  for (const std::string_view name : all) out.push_back({name, sequence_of(name)});
  std::ranges::sort(out, {}, [](const placed_lease& l) { return std::pair(l.sequence, l.name); });
  return out;
}

// The number of nodes that come before this one or have its sequence.
std::size_t rank_of(const std::vector<placed_lease>& all, std::int64_t sequence) {
  const auto end = std::ranges::upper_bound(all, sequence, {}, &placed_lease::sequence);
  return static_cast<std::size_t>(end - all.begin());
}

}  // namespace

base::uuid with_total(base::uuid g, std::uint32_t total) noexcept {
  g.high = (g.high & ~tag_mask) | tag;
  g.low = (g.low & ~total_mask) | total;
  return g;
}

std::string owner_text(const base::uuid& g) { return std::string(before_guid) + text_of(g); }

std::string lease_name(const base::uuid& g) { return owner_text(g).append(lease_marker); }

std::string queue_name(const base::uuid& g) {
  return curator::codec().name_of(g, lock_mode::exclusive);
}

own_leases read_leases(node_names all, const base::uuid& g, std::uint32_t total) {
  const std::vector<placed_lease> ordered = in_order(all);
  const std::string mine = owner_text(g);
  own_leases out;
  std::int64_t last = -1;
  for (const placed_lease& l : ordered) {
    const std::string_view owner = owner_of(l.name);
    if (owner == mine) {
      out.names.emplace_back(l.name);
      last = l.sequence;
    } else if (const std::uint32_t other = total_of(owner); other != 0 && other != total) {
      out.other_total = other;
    }
  }
  const bool has_room =
      base::planted(base::mutant::lease_beyond_total_holds) || rank_of(ordered, last) <= total;
  out.hold = last >= 0 && has_room;
  return out;
}

std::vector<lease_holder> holders_of(node_names all) {
  const std::vector<placed_lease> ordered = in_order(all);
  std::vector<lease_holder> out;
  for (const placed_lease& l : ordered) {
    const std::string_view owner = owner_of(l.name);
    auto at = std::ranges::find(out, owner, &lease_holder::owner);
    if (at == out.end()) at = out.insert(out.end(), {owner, {}, total_of(owner)});
    at->names.push_back(l.name);
  }
  std::erase_if(out, [&](const lease_holder& h) {
    return h.total != 0 && rank_of(ordered, sequence_of(h.names.back())) > h.total;
  });
  return out;
}

place_in_queue read_queue(node_names all, const base::uuid& g) {
  const std::string begin = queue_name(g);
  place_in_queue out;
  const auto at = std::ranges::find_if(all, [&](auto name) { return name.starts_with(begin); });
  if (at == all.end()) return out;
  const node_place mine = curator::codec().place_of(*at, lock_mode::exclusive, all);
  return {true, *at, mine.ahead.front(), mine.others_behind, mine.has_wrapped};
}

}  // namespace holdfast::zookeeper::curator_semaphore
