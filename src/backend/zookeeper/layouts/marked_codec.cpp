#include "backend/zookeeper/layouts/marked_codec.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "backend/zookeeper/layouts/node_sequence.hpp"
#include "base/mutant.hpp"

namespace holdfast::zookeeper {

namespace {

bool is_sequence(std::string_view text) noexcept {
  if (text.starts_with('-')) text.remove_prefix(1);
  return text.size() == sequence_length &&
         std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

bool is_negative(std::string_view text) noexcept {
  return text.starts_with('-') && is_sequence(text) &&
         !base::planted(base::mutant::sequence_limit_ignored);
}

}  // namespace

std::string marked_codec::name_of(const base::uuid& g, lock_mode mode) const {
  std::string id = text_of(g);
  if (rules_.has_plain_guid) std::erase(id, '-');
  const auto own = std::ranges::find(rules_.markers, mode, &node_marker::mode);
  std::string out;
  out.reserve(rules_.before_guid.size() + id.size() + rules_.after_guid.size() + own->text.size() +
              sequence_length);
  return out.append(rules_.before_guid).append(id).append(rules_.after_guid).append(own->text);
}

bool marked_codec::read(std::string_view name, contender& out) const noexcept {
  for (const node_marker& m : rules_.markers) {
    const std::size_t at = name.rfind(m.text);
    if (at == std::string_view::npos) continue;
    out = {name.substr(at + m.text.size()), name, m.mode};
    if (!rules_.needs_digits || is_sequence(out.sequence)) return true;
  }
  return false;
}

bool marked_codec::is_of_other_kind(std::string_view name) const noexcept {
  return std::ranges::any_of(rules_.other_kinds, [&](std::string_view marker) {
    const std::size_t at = name.rfind(marker);
    return at != std::string_view::npos && is_sequence(name.substr(at + marker.size()));
  });
}

std::vector<marked_codec::contender> marked_codec::in_order(node_names all) const {
  std::vector<contender> out;
  out.reserve(all.size());
  contender c;
  for (const std::string_view name : all)
    if (read(name, c)) out.push_back(c);
  std::sort(out.begin(), out.end());
  return out;
}

node_place marked_codec::place_of(std::string_view own, lock_mode mode, node_names all) const {
  node_place out;
  contender self, other;
  std::array<contender, watched_ahead_max> nearest;
  out.is_there = std::ranges::find(all, own) != all.end() && read(own, self);
  if (!out.is_there) return out;
  const bool shares = mode == lock_mode::shared;
  std::size_t ahead = 0;
  for (const std::string_view name : all) {
    if (name == own) continue;
    if (!read(name, other)) {
      out.is_other_kind = out.is_other_kind || is_of_other_kind(name);
      continue;
    }
    out.has_wrapped = out.has_wrapped || is_negative(other.sequence);
    if (shares && other.mode == lock_mode::shared) continue;
    if (self < other) {
      out.others_behind = true;
      continue;
    }
    ++ahead;
    for (contender& n : nearest)
      if (n < other) std::swap(n, other);
  }
  // A writer that becomes a reader ends one node and keeps its place with another: deletion of
  // an earlier node proves nothing, so only the blocker is watched.
  const bool is_proof = !has(lock_mode::shared);
  const std::size_t watched = is_proof ? nearest.size() : 1;
  for (std::size_t i = 0; i < watched; ++i) out.ahead[i] = nearest[i].name;
  out.are_all = is_proof && ahead <= watched;
  return out;
}

std::vector<queued_node> marked_codec::queue_of(node_names all) const {
  std::vector<queued_node> out;
  bool has_writer = false;
  for (const contender& c : in_order(all)) {
    const bool shares = c.mode == lock_mode::shared;
    out.push_back({c.name, c.mode, shares ? !has_writer : out.empty()});
    has_writer = has_writer || !shares;
  }
  return out;
}

}  // namespace holdfast::zookeeper
